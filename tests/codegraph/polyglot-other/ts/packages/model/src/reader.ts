import { Shelf } from './shelf';

export interface Reader {
  name: string;
  shelf: Shelf;
  read(title: string): boolean;
}

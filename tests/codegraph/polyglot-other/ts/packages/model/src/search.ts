import type { Shelf } from './shelf';

export default function createIndex(shelf: Shelf): Index {
  return new Index(shelf);
}

export class Index {
  constructor(readonly shelf: Shelf) {}

  lookup(title: string): boolean {
    return this.shelf.find(title)?.isLong() ?? false;
  }
}

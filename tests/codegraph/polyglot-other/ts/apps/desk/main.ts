import Desk from './desk';
import { Shelf } from '@lib/model';

export async function open(): Promise<Desk> {
  return new Desk(new Shelf());
}

export function main(): Promise<boolean> {
  return open().then((desk) => desk.lend('a'));
}

async function close() {
  const desk = await open();
  desk.stock();
}

class FakePerson {
  read(): boolean {
    return true;
  }
}

export const people = [new FakePerson(), close];

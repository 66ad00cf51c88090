export class Shelf {
  put(name: string): void {}
}

export function fill(shelf: Shelf): void {
  shelf.put('x');
}

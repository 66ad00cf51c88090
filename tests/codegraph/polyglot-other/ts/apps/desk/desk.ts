import { Book as Volume, Shelf, createIndex, longOnes } from '@lib/model';
import type { Person } from '@lib/model';

class Desk {
  private readonly shelf: Shelf;
  private people: Person[] = [];

  constructor(shelf: Shelf) {
    this.shelf = shelf;
  }

  lend = (title: string): boolean => {
    return this.people.some((person) => person.read(title));
  };

  stock(): void {
    this.shelf.put(Volume.blank).put(new Volume('b'));
  }

  search(title: string): boolean {
    const index = createIndex(this.shelf);
    return index.lookup(title);
  }

  titles(): string[] {
    return longOnes([]).map((volume) => volume.label);
  }
}

export default Desk;

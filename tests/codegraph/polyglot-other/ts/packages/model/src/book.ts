export abstract class Work {
  constructor(public title: string) {}

  abstract pages(): number;

  isLong(): boolean {
    return this.pages() > 300;
  }
}

export class Book extends Work {
  static blank = new Book('');

  pages(): number {
    return 1;
  }

  get label(): string {
    return this.title;
  }
}

export type Catalogue = Map<string, Book>;

export const longOnes = (books: Book[]): Book[] => books.filter((book) => book.isLong());

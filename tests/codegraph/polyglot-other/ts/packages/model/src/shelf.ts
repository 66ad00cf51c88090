import * as works from './book';

export class Shelf {
  private byTitle = new Map<string, works.Book>();

  put(book: works.Book): Shelf {
    this.byTitle.set(book.title, book);
    return this;
  }

  find(title: string): works.Book | undefined {
    return this.byTitle.get(title);
  }

  count(): number {
    let sum = 0;
    for (const [, book] of this.byTitle) {
      sum += book.pages();
    }
    return sum;
  }
}

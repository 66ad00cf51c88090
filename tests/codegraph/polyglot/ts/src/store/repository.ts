export abstract class Repository<T> {
  protected rows: T[] = [];

  abstract name(): string;

  save(row: T): void {
    this.rows.push(row);
    this.log(this.name());
  }

  first(): T {
    return this.rows[0];
  }

  protected log(text: string): void {}
}

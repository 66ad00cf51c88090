import type { Clock } from './clock';
import { roundUp } from './money';

export interface Priced {
  price(): number;
}

export class Item implements Priced {
  constructor(private readonly cents: number) {}

  price(): number {
    return roundUp(this.cents);
  }
}

export class Cart {
  private items: Item[] = [];
  readonly created: number;

  constructor(private clock: Clock) {
    this.created = clock.now();
  }

  add(item: Item): this {
    this.items.push(item);
    return this;
  }

  total(): number {
    return this.items.reduce((sum, item) => sum + item.price(), 0);
  }

  isOld(): boolean {
    return this.clock.now() > this.created;
  }
}

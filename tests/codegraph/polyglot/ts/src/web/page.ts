import { Cart as Basket, show, Money, CartItem } from '../core';
import * as core from '../core';
import type { Clock, SystemClock } from '../core';
import { CartRepository } from '../store/carts';

export function render(basket: Basket): string {
  return show(basket.total());
}

export const empty = (clock: Clock): Basket => new Basket(clock);

export function sample(): number {
  const basket = new core.Cart(new core.SystemClock());
  basket.add(new CartItem(1)).add(new CartItem(2));
  return basket.total();
}

export class Page {
  private repository = new CartRepository();
  private sum: Money = Money.zero();

  constructor(private readonly clock: SystemClock) {}

  open(): void {
    const basket = empty(this.clock);
    this.repository.save(basket);
  }

  grow(): void {
    this.sum = this.sum.plus(Money.zero());
  }

  stamp(): number {
    return this.clock.now();
  }
}

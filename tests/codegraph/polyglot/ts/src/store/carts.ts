import { Cart } from '../core';
import { Repository } from './repository';

export class CartRepository extends Repository<Cart> {
  name(): string {
    return 'carts';
  }

  sum(): number {
    return this.rows.map((cart) => cart.total()).length;
  }

  newest(): number {
    return this.first().total();
  }
}

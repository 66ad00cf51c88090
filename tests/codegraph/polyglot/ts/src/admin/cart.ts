export class Cart {
  total(): number {
    return format(3).length;
  }
}

function format(value: number): string {
  return String(value);
}

export function audit(cart: Cart): number {
  return cart.total();
}

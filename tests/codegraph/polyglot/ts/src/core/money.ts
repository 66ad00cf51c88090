export function roundUp(cents: number): number {
  return cents + 1;
}

export function format(cents: number): string {
  return `${cents}`;
}

export default class Money {
  constructor(readonly cents: number) {}

  plus(other: Money): Money {
    return new Money(this.cents + other.cents);
  }

  static zero(): Money {
    return new Money(0);
  }
}

export type Currency = 'EUR' | 'USD';

export enum Mode {
  Fast,
  Slow,
}

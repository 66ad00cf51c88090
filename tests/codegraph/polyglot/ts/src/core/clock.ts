export interface Clock {
  now(): number;
}

export class SystemClock implements Clock {
  now(): number {
    return 1;
  }
}

export class FakeClock implements Clock {
  time = 0;

  now(): number {
    return this.time;
  }
}

import { FakeClock } from '../core/clock';
import { Page, sample } from '../web/page';
import { load } from '../web/lazy';

export function checkStamp(): void {
  const clock = new FakeClock();
  const page = new Page(clock);
  page.stamp();
}

export async function checkLoad(): Promise<number> {
  const text = await load();
  return sample() + text.length;
}

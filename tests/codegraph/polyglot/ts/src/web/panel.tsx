import Amount, { Mode } from '@core/money';
import { money } from '../core';

export function Panel(props: { mode: Mode }) {
  return <b>{money.format(1)}</b>;
}

export function App() {
  const amount = Amount.zero();
  return <Panel mode={Mode.Fast} />;
}

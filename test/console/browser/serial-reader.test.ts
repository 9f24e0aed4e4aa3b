import { describe, expect, it } from 'vitest';
import { SerialReader } from '../../../src/console/browser/shared/serial-reader.ts';

/** Returns a reader, and functions that end its runs in order. */
function createReader() {
  const runs: (() => void)[] = [];
  const reader = new SerialReader(() => new Promise((resolve) => runs.push(resolve)));
  return { reader, runs };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('reads of many pages', () => {
  it('finish before the next begins, also when records change all the time', async () => {
    const { reader, runs } = createReader();
    const first = reader.request();
    for (let change = 0; change < 5; change++) void reader.request();
    await settle();
    expect(runs).toHaveLength(1);
    runs[0]!();
    await settle();
    expect(runs).toHaveLength(2);
    runs[1]!();
    await first;
    expect(runs).toHaveLength(2);
  });

  it('begin again at a later request', async () => {
    const { reader, runs } = createReader();
    const first = reader.request();
    runs[0]!();
    await first;
    void reader.request();
    expect(runs).toHaveLength(2);
  });

  it('are not begun after the page was left', async () => {
    const { reader, runs } = createReader();
    const first = reader.request();
    void reader.request();
    reader.stop();
    runs[0]!();
    await first;
    expect([runs.length, reader.stopped]).toEqual([1, true]);
  });
});

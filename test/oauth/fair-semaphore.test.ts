import { describe, expect, it } from 'vitest';
import { FairSemaphore } from '../../src/oauth/fair-semaphore.ts';

/** Work that ends when it is told to; the order in which it began is kept. */
function manualWork() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((end) => ends.push(end));
  };
  const endNext = async () => {
    ends.shift()!();
    await new Promise(setImmediate);
  };
  return { begun, work, endNext };
}

describe('FairSemaphore', () => {
  it('runs as much at a time as it may', async () => {
    const semaphore = new FairSemaphore({ concurrency: 2, maxWaiting: 10 });
    const { begun, work, endNext } = manualWork();
    for (const name of ['a', 'b', 'c']) void semaphore.run('key', work(name));
    expect(begun).toEqual(['a', 'b']);
    await endNext();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('serves keys in rotation, whoever has more waiting', async () => {
    const semaphore = new FairSemaphore({ concurrency: 1, maxWaiting: 10 });
    const { begun, work, endNext } = manualWork();
    for (const name of ['x1', 'x2', 'x3', 'x4']) void semaphore.run('x', work(name));
    void semaphore.run('y', work('y1'));
    void semaphore.run('z', work('z1'));
    while (begun.length < 6) await endNext();
    expect(begun).toEqual(['x1', 'x2', 'y1', 'z1', 'x3', 'x4']);
  });

  it('refuses with 503 what is too much to wait, and goes on', async () => {
    const semaphore = new FairSemaphore({ concurrency: 1, maxWaiting: 1 });
    const { begun, work, endNext } = manualWork();
    void semaphore.run('a', work('a1'));
    void semaphore.run('a', work('a2'));
    await expect(semaphore.run('b', work('b1'))).rejects.toMatchObject({ status: 503 });
    await endNext();
    void semaphore.run('b', work('b2'));
    await endNext();
    expect(begun).toEqual(['a1', 'a2', 'b2']);
  });

  it('makes room for others when work fails', async () => {
    const semaphore = new FairSemaphore({ concurrency: 1, maxWaiting: 1 });
    const failing = semaphore.run('a', () => Promise.reject(new Error('wrong')));
    const next = semaphore.run('b', async () => 'done');
    await expect(failing).rejects.toThrow('wrong');
    expect(await next).toBe('done');
  });
});

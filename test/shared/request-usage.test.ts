import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RequestUsage } from '../../src/auth/request-usage.ts';
import { createFairShares } from '../../src/shared/fair-shares.ts';

describe('a request of a share that is full', () => {
  it('is rejected with 429 after a delay, while others wait for their turn', async () => {
    const shares = createFairShares();
    const running = Array.from({ length: 16 }, () => new RequestUsage(shares, 'a'));
    for (const usage of running) expect(usage.begin()).toBeUndefined();
    const waiting = Array.from({ length: 256 }, () => new RequestUsage(shares, 'a'));
    const begun = waiting.map((usage) => usage.begin()!);
    for (const one of begun) one.catch(() => undefined);
    const rejected = new RequestUsage(shares, 'a').begin()!.catch((error) => error);
    expect(new RequestUsage(shares, 'b').begin()).toBeUndefined();
    expect(await Promise.race([rejected, sleep(100)])).toBeUndefined();
    expect(await rejected).toMatchObject({ status: 429, headers: { 'Retry-After': '1' } });
    for (const usage of running) usage.end();
    await begun[0];
    for (const usage of waiting) usage.end();
  });
});

describe('a write of large values', () => {
  it('waits for another one of its share, until the response of that has ended', async () => {
    const shares = createFairShares();
    const [first, second] = [new RequestUsage(shares, 'a'), new RequestUsage(shares, 'a')];
    await first.acquireLargeWrite(1_000_000);
    const granted = second.acquireLargeWrite(1_000_000);
    expect(shares.largeReads.stats()).toMatchObject({ used: 1, queued: 1 });
    await new RequestUsage(shares, 'b').acquireLargeWrite(1_000_000);
    first.end();
    await granted;
    expect(shares.largeReads.stats()).toMatchObject({ used: 2, queued: 0 });
  });
});

describe('a permit that is granted after the response has ended', () => {
  it('is released at once', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    usage.end();
    usage.onEnd(await shares.graphqlCost.acquire('a', 1_000));
    expect(shares.graphqlCost.stats()).toMatchObject({ used: 0 });
  });
});

describe('a request that receives a multipart form', () => {
  it('holds no permit to execute meanwhile, and acquires one afterwards', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    usage.begin();
    const used = await usage.runWithoutPermit(async (release) => {
      release();
      return shares.requests.stats().used;
    });
    expect(used).toBe(0);
    expect(shares.requests.stats().used).toBe(1);
    usage.end();
    expect(shares.requests.stats().used).toBe(0);
  });
});

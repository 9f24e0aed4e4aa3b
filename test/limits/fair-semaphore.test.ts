import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairSemaphore, type FairSemaphoreOptions, type Release } from '../../src/limits/fair-semaphore.ts';
import type { ApiError } from '../../src/shared/errors.ts';

const createSemaphore = (options: Partial<FairSemaphoreOptions> = {}) =>
  new FairSemaphore({
    ...{ name: 'test', capacity: 4, perShare: 2, maxQueuedPerShare: 3, maxQueued: 5, maxWaitMs: 1_000 },
    ...options,
  });

/** Acquires a cost and records the label once it is granted. */
function acquireInto(granted: string[], semaphore: FairSemaphore, share: string, label = share, cost = 1) {
  return semaphore.acquire(share, cost).then((release) => {
    granted.push(label);
    return release;
  });
}

const statusOf = (attempt: Promise<Release>) =>
  attempt.then(
    () => 'granted',
    (error: ApiError) => error.status,
  );

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a fair semaphore with free capacity', () => {
  it('grants at once, up to what a share may use', () => {
    const semaphore = createSemaphore();
    expect(semaphore.tryAcquire('a')).not.toBeNull();
    expect(semaphore.tryAcquire('a')).not.toBeNull();
    expect(semaphore.tryAcquire('a')).toBeNull();
    expect(semaphore.tryAcquire('b')).not.toBeNull();
  });

  it('grants a request that costs more than a share may use, once the share is idle', async () => {
    const semaphore = createSemaphore();
    const release = semaphore.tryAcquire('a', 100)!;
    expect(semaphore.stats().used).toBe(2);
    release();
    expect(semaphore.stats().used).toBe(0);
  });

  it('counts a release once, however often it is called', () => {
    const semaphore = createSemaphore();
    const release = semaphore.tryAcquire('a')!;
    semaphore.tryAcquire('a');
    release();
    release();
    expect(semaphore.stats().used).toBe(1);
  });
});

describe('a share that is full', () => {
  it('delays only itself (LIM-19)', async () => {
    const semaphore = createSemaphore();
    const granted: string[] = [];
    for (const label of ['a1', 'a2', 'a3', 'a4']) void acquireInto(granted, semaphore, 'a', label);
    void acquireInto(granted, semaphore, 'b');
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toEqual(['a1', 'a2', 'b']);
  });

  it('gets 429 once its queue is full (LIM-20)', async () => {
    const semaphore = createSemaphore();
    const attempts = Array.from({ length: 6 }, () => statusOf(semaphore.acquire('a')));
    expect(await attempts[5]).toBe(429);
    expect(semaphore.stats().rejectedByShare).toBe(1);
    expect(await statusOf(semaphore.acquire('b'))).toBe('granted');
  });

  it('gets 429 after the longest wait, because its own use is the reason (LIM-20)', async () => {
    const semaphore = createSemaphore();
    semaphore.tryAcquire('a', 2);
    const attempt = statusOf(semaphore.acquire('a'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await attempt).toBe(429);
    expect(semaphore.stats().queued).toBe(0);
  });
});

describe('a semaphore that is full', () => {
  it('gets 503 once the queue of all shares is full (LIM-20)', async () => {
    const semaphore = createSemaphore();
    for (const share of ['a', 'a', 'b', 'b']) semaphore.tryAcquire(share);
    for (const share of ['c', 'd', 'e', 'f', 'g']) void statusOf(semaphore.acquire(share));
    expect(await statusOf(semaphore.acquire('h'))).toBe(503);
    expect(semaphore.stats().rejectedByService).toBe(1);
  });

  it('gets 503 after the longest wait where others use the capacity (LIM-20)', async () => {
    const semaphore = createSemaphore();
    for (const share of ['a', 'a', 'b', 'b']) semaphore.tryAcquire(share);
    const attempt = statusOf(semaphore.acquire('c'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await attempt).toBe(503);
  });

  it('charges the time of what was granted where its option says so', async () => {
    const semaphore = createSemaphore({ capacity: 1, perShare: 1, chargesTime: true, maxWaitMs: 60_000 });
    const granted: string[] = [];
    const releases: Release[] = [];
    const take = (share: string, label: string) =>
      void acquireInto(granted, semaphore, share, label).then((release) => releases.push(release));
    for (const label of ['a1', 'a2']) take('a', label);
    for (const label of ['b1', 'b2', 'b3']) take('b', label);
    for (const seconds of [20, 1, 1, 1, 1]) {
      await vi.advanceTimersByTimeAsync(seconds * 1_000);
      releases.shift()!();
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toEqual(['a1', 'b1', 'b2', 'b3', 'a2']);
  });

  it('serves the share that was granted the least cost first', async () => {
    const semaphore = createSemaphore({ capacity: 1, perShare: 1 });
    const granted: string[] = [];
    const releases: Release[] = [];
    const take = (share: string, label: string) =>
      void acquireInto(granted, semaphore, share, label).then((release) => releases.push(release));
    for (const label of ['a1', 'a2', 'a3']) take('a', label);
    for (const label of ['b1', 'b2']) take('b', label);
    await vi.advanceTimersByTimeAsync(0);
    while (granted.length < 5) {
      releases.shift()!();
      await vi.advanceTimersByTimeAsync(0);
    }
    expect(granted).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('grants a large request in spite of continuous small ones', async () => {
    const semaphore = createSemaphore({ capacity: 4, perShare: 4 });
    const granted: string[] = [];
    const small = semaphore.tryAcquire('a')!;
    void acquireInto(granted, semaphore, 'b', 'large', 4);
    void acquireInto(granted, semaphore, 'c', 'small', 1);
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toEqual([]);
    small();
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toEqual(['large']);
  });

  it('skips a waiting share that has reached its own limit', async () => {
    const semaphore = createSemaphore({ capacity: 3, perShare: 2 });
    const granted: string[] = [];
    semaphore.tryAcquire('a', 2);
    const other = semaphore.tryAcquire('b', 1)!;
    void acquireInto(granted, semaphore, 'a', 'a2');
    void acquireInto(granted, semaphore, 'c');
    other();
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toEqual(['c']);
  });
});

describe('a share with many requests in one iteration of the event loop', () => {
  const options = { capacity: 16, perShare: 8, maxQueuedPerShare: 8, perTurnContended: 2 };

  it('is granted all of them while no other share is active', () => {
    const semaphore = createSemaphore(options);
    expect([1, 2, 3, 4].map(() => semaphore.tryAcquire('a') !== null)).toEqual([true, true, true, true]);
  });

  it('is granted a few of them in each iteration while another share is active (LIM-19)', async () => {
    const semaphore = createSemaphore(options);
    semaphore.tryAcquire('b');
    const granted: string[] = [];
    for (const label of ['1', '2', '3', '4', '5']) acquireInto(granted, semaphore, 'a', label);
    await Promise.resolve();
    expect(granted).toEqual(['1', '2']);
    await vi.advanceTimersToNextTimerAsync();
    expect(granted).toEqual(['1', '2', '3', '4']);
    await vi.advanceTimersToNextTimerAsync();
    expect(granted).toEqual(['1', '2', '3', '4', '5']);
  });
});

describe('a share that uses much while another share is active', () => {
  const options = { capacity: 16, perShare: 8, perShareContended: 3, maxQueuedPerShare: 8 };

  it('is granted its whole limit while no other share is active', () => {
    const semaphore = createSemaphore(options);
    for (let at = 0; at < 8; at++) expect(semaphore.tryAcquire('a')).not.toBeNull();
    expect(semaphore.tryAcquire('a')).toBeNull();
  });

  it('is granted less while another share uses some, and the rest afterwards (LIM-19)', async () => {
    const semaphore = createSemaphore(options);
    const other = semaphore.tryAcquire('b')!;
    const granted: string[] = [];
    for (const label of ['1', '2', '3', '4']) void acquireInto(granted, semaphore, 'a', label);
    await Promise.resolve();
    expect(granted).toEqual(['1', '2', '3']);
    other();
    await Promise.resolve();
    expect(granted).toEqual(['1', '2', '3', '4']);
  });

  it('is granted one request that costs more', () => {
    const semaphore = createSemaphore(options);
    semaphore.tryAcquire('b');
    expect(semaphore.tryAcquire('a', 8)).not.toBeNull();
    expect(semaphore.tryAcquire('a', 1)).toBeNull();
  });

  it('is granted less for a time after another share used some, whatever it has used itself since (LIM-19)', async () => {
    const semaphore = createSemaphore({ ...options, activeForMs: 100 });
    const countGrants = () => {
      const releases = Array.from({ length: 8 }, () => semaphore.tryAcquire('a')).filter((release) => release !== null);
      for (const release of releases) release();
      return releases.length;
    };
    semaphore.tryAcquire('c')!();
    semaphore.tryAcquire('b')!();
    expect(countGrants()).toBe(3);
    await vi.advanceTimersByTimeAsync(99);
    expect(countGrants()).toBe(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(countGrants()).toBe(8);
  });

  it('is granted its waiting requests once the others are no longer active, without a release', async () => {
    const semaphore = createSemaphore({ ...options, maxQueuedPerShare: 8, activeForMs: 100 });
    const releaseOther = semaphore.tryAcquire('b')!;
    const granted: string[] = [];
    for (let number = 0; number < 5; number++) void acquireInto(granted, semaphore, 'a');
    await vi.advanceTimersByTimeAsync(50);
    releaseOther();
    await vi.advanceTimersByTimeAsync(99);
    expect(granted).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1);
    expect(granted).toHaveLength(5);
  });

  it('does not delay another share by requests that wait and have room since the others are idle', async () => {
    const activity = createSemaphore();
    const semaphore = createSemaphore({ ...options, maxQueuedPerShare: 8, activity });
    const releaseOther = activity.tryAcquire('b')!;
    activity.tryAcquire('a');
    const granted: string[] = [];
    for (let number = 0; number < 5; number++) void acquireInto(granted, semaphore, 'a');
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toHaveLength(3);
    releaseOther();
    void acquireInto(granted, semaphore, 'b');
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toContain('b');
  });

  it('is compared with the shares that are active elsewhere', () => {
    const activity = createSemaphore();
    const semaphore = createSemaphore({ ...options, activity });
    semaphore.tryAcquire('b', 8);
    expect(semaphore.tryAcquire('a', 3)).not.toBeNull();
    expect(semaphore.tryAcquire('a', 1)).not.toBeNull();
    activity.tryAcquire('b');
    expect(semaphore.tryAcquire('a', 1)).toBeNull();
  });
});

describe('an aborted wait', () => {
  it('rejects with the reason and leaves the queue', async () => {
    const semaphore = createSemaphore();
    semaphore.tryAcquire('a', 2);
    const controller = new AbortController();
    const attempt = semaphore.acquire('a', 1, controller.signal);
    controller.abort(new Error('gone'));
    await expect(attempt).rejects.toThrow('gone');
    expect(semaphore.stats().queued).toBe(0);
  });

  it('lets the requests behind it be granted', async () => {
    const semaphore = createSemaphore({ capacity: 4, perShare: 4 });
    const granted: string[] = [];
    semaphore.tryAcquire('a', 2);
    const controller = new AbortController();
    void semaphore.acquire('b', 4, controller.signal).catch(() => undefined);
    void acquireInto(granted, semaphore, 'c', 'c', 2);
    controller.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(granted).toEqual(['c']);
  });
});

describe('many shares', () => {
  it('are removed when idle, so that their number is bounded', async () => {
    const semaphore = createSemaphore();
    for (let address = 0; address < 5_000; address++) semaphore.tryAcquire(`address ${address}`)!();
    expect(semaphore.stats()).toMatchObject({ used: 0, queued: 0 });
    expect(semaphore.shareCount).toBeLessThanOrEqual(1_000);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { startJobs } from '../../src/shared/jobs.ts';

const log = { info: vi.fn(), error: vi.fn() };

function startCountingJob(delayMs: number) {
  const run = vi.fn(async () => null);
  return { run, stop: startJobs([{ name: 'counting', everyMs: 3_600_000, run }], delayMs, log as never) };
}

describe('jobs that are started after a delay', () => {
  it('run in both regions, but not at once', async () => {
    const { run, stop } = startCountingJob(10);
    expect(run).not.toHaveBeenCalled();
    await expect.poll(() => run.mock.calls).toEqual([['au1'], ['us1']]);
    await stop();
  });

  it('do not run once they are stopped', async () => {
    const { run, stop } = startCountingJob(10);
    await stop();
    await sleep(30);
    expect(run).not.toHaveBeenCalled();
  });
});

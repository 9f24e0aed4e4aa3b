import { afterEach, describe, expect, it } from 'vitest';
import { WorkerThread, type WorkerThreadOptions } from '../../src/shared/worker-thread.ts';

const threads: WorkerThread<string, string>[] = [];

const createThread = (options: Partial<WorkerThreadOptions> = {}) => {
  const file = new URL('../support/worker-thread-program.ts', import.meta.url);
  const thread = new WorkerThread<string, string>({
    ...{ file, memoryMb: 64, timeoutMs: 60_000, idleMs: 60_000 },
    ...options,
  });
  threads.push(thread);
  return thread;
};

afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.close();
});

describe('a worker thread', () => {
  it('returns the results of consecutive tasks', async () => {
    const thread = createThread();
    expect(await thread.run('respond')).toBe('respond: done');
    expect(await thread.run('respond')).toBe('respond: done');
  });

  it('runs one task after the other', async () => {
    const thread = createThread();
    const [failed, next] = [thread.run('exit'), thread.run('respond')];
    await expect(failed).rejects.toMatchObject({ reason: 'CRASHED' });
    expect(await next).toBe('respond: done');
  });

  it.each([
    ['throws', 'throw', {}, 'ENDED'],
    ['exits', 'exit', {}, 'CRASHED'],
    ['exceeds its memory limit', 'allocate', {}, 'MEMORY'],
    ['takes more time than it may', 'spin', { timeoutMs: 300 }, 'TIMEOUT'],
  ])('that %s rejects its task, and the next task has another thread', async (_, task, options, reason) => {
    const thread = createThread(options);
    await expect(thread.run(task)).rejects.toMatchObject({ name: 'WorkerError', reason });
    if (reason !== 'TIMEOUT') expect(await thread.run('respond')).toBe('respond: done');
    else await expect(thread.run('spin')).rejects.toMatchObject({ reason });
  });

  it('that is closed rejects its task', async () => {
    const thread = createThread();
    const task = thread.run('spin');
    await thread.close();
    await expect(task).rejects.toMatchObject({ reason: 'ENDED' });
  });

  it('ends after its idle time and starts again with the next task', async () => {
    const thread = createThread({ idleMs: 0 });
    expect(await thread.run('respond')).toBe('respond: done');
    await expect.poll(() => thread.isRunning).toBe(false);
    expect(await thread.run('respond')).toBe('respond: done');
  });
});

import cluster, { type Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { Supervisor, WorkerStartError } from '../../src/supervision/supervisor.ts';

it('does not start when the process of a worker cannot be created for want of memory', async () => {
  // Node throws this error, and reports others as an event.
  const fork = vi.spyOn(cluster, 'fork').mockImplementation(() => {
    throw new Error('spawn ENOMEM');
  });
  onTestFinished(() => fork.mockRestore());
  const supervisor = new Supervisor(loadConfig({}), { env: {}, log: pino({ level: 'silent' }) });
  const expected = new WorkerStartError(
    'A worker ended while it started: its process cannot be created: spawn ENOMEM.',
  );
  await expect(supervisor.start()).rejects.toThrow(expected);
});

it.each<[string, (worker: Worker) => unknown]>([
  ['ends while it starts', (worker) => worker.emit('exit', 1, null)],
  ['has no process', (worker) => worker.emit('error', new Error('spawn EMFILE'))],
])('replaces a worker that listened at once, and one that %s after growing delays', async (_, end) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const workers: Worker[] = [];
  const fork = vi.spyOn(cluster, 'fork').mockImplementation(() => {
    workers.push(Object.assign(new EventEmitter(), { process: new EventEmitter() }) as Worker);
    return workers.at(-1)!;
  });
  onTestFinished(() => fork.mockRestore());
  const config = loadConfig({ WORKERS: '1', WORKER_HANG_SECONDS: '0' });
  const started = new Supervisor(config, { env: {}, log: pino({ level: 'silent' }) }).start();
  const delays: number[] = [];
  const replace = async (endLast: (worker: Worker) => unknown) => {
    const at = Date.now();
    endLast(workers.at(-1)!);
    await vi.advanceTimersToNextTimerAsync();
    delays.push(Date.now() - at);
  };
  workers[0]!.emit('listening');
  await started;
  await replace((worker) => worker.emit('exit', 1, null));
  for (let failed = 0; failed < 9; failed++) await replace(end);
  workers.at(-1)!.emit('listening');
  await replace((worker) => worker.emit('exit', 1, null));
  expect(delays).toEqual([0, 0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 0]);
  expect(workers).toHaveLength(12);
});

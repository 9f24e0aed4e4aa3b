import cluster from 'node:cluster';
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

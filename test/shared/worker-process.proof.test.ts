import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { WorkerProcess } from '../../src/images/worker-process.ts';
import type { TaskWorkerOptions } from '../../src/shared/worker-thread.ts';
import { canTakeDescriptors, takeDescriptors } from '../support/descriptors.ts';

const processes: WorkerProcess<string, unknown>[] = [];

const createProcess = (options: Partial<TaskWorkerOptions> = {}) => {
  const file = new URL('../support/worker-process-program.ts', import.meta.url);
  const created = new WorkerProcess<string, unknown>({ file, timeoutMs: 60_000, idleMs: 60_000, ...options });
  processes.push(created);
  return created;
};

afterEach(async () => {
  for (const each of processes.splice(0)) await each.close();
});

describe('a worker process', () => {
  it('returns the results of tasks, one after the other', async () => {
    const worker = createProcess();
    const [first, second] = [worker.run('answer'), worker.run('priority')];
    expect(await first).toBe('done');
    expect(await second).toBe(10);
    expect(await worker.run('answer')).toBe('done');
  });

  it('has nothing of the environment but the settings of its allocator', async () => {
    process.env.TOKEN_SECRET_OF_A_TEST = 'secret';
    const environment = (await createProcess().run('environment')) as Record<string, string>;
    delete process.env.TOKEN_SECRET_OF_A_TEST;
    const names = Object.keys(environment).filter((name) => !name.startsWith('NODE_CHANNEL'));
    expect(names.sort()).toEqual(['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_']);
  });

  it.each([
    ['exits', 'exit'],
    ['throws', 'throw'],
  ])('that %s rejects its tasks, and the next task has another process', async (_, task) => {
    const worker = createProcess();
    await expect(worker.run(task)).rejects.toMatchObject({ name: 'WorkerError', reason: 'CRASHED' });
    expect(await worker.run('answer')).toBe('done');
  });

  it.skipIf(!canTakeDescriptors)(
    'whose process cannot be created, for want of file descriptors, rejects the task, which is not blamed',
    async () => {
      const worker = createProcess();
      const restore = await takeDescriptors(process.pid);
      const rejected = await worker.run('answer').catch((error) => error);
      await restore();
      expect(rejected).toMatchObject({ name: 'WorkerError', reason: 'ENDED' });
      expect(await worker.run('answer')).toBe('done');
    },
  );

  it('ends with a task that takes more time than it may, which is not blamed on the next one', async () => {
    const worker = createProcess({ timeoutMs: 5_000 });
    expect(await worker.run('answer')).toBe('done');
    const [pid, late, next] = [worker.pid!, worker.run('never'), worker.run('answer')];
    await expect(late).rejects.toMatchObject({ reason: 'TIMEOUT' });
    expect(await next).toBe('done');
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it('ends at once with the process that started it, also in the middle of a task', async () => {
    const program = fileURLToPath(new URL('../support/worker-process-parent.ts', import.meta.url));
    const parent = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(parent.stdout, 'data');
    const ended = once(parent, 'close');
    parent.kill('SIGKILL');
    // The worker process holds the standard output of its parent until it ends.
    await ended;
    expect(parent.signalCode).toBe('SIGKILL');
  });

  it('has the end of its standard error in the error of a crash', async () => {
    const cause = expect.objectContaining({ message: expect.stringContaining('An error of the task.') });
    await expect(createProcess().run('throw')).rejects.toMatchObject({ reason: 'CRASHED', cause });
  });

  it('that is closed rejects its tasks', async () => {
    const worker = createProcess();
    const task = worker.run('never');
    worker.close();
    await expect(task).rejects.toMatchObject({ reason: 'ENDED' });
  });

  it('ends after its idle time and starts again with the next task', async () => {
    const worker = createProcess({ idleMs: 0 });
    expect(await worker.run('answer')).toBe('done');
    await expect.poll(() => worker.pid).toBeUndefined();
    expect(await worker.run('answer')).toBe('done');
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

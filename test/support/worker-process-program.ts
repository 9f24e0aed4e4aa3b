import { pbkdf2 } from 'node:crypto';
import { getPriority } from 'node:os';
import { handleTasks } from '../../src/images/worker-process.ts';

/* Program of the worker processes of worker-process.proof.test.ts. The task is the name of an action. */

const TASKS: Record<string, () => unknown> = {
  answer: () => 'done',
  environment: () => process.env,
  priority: () => getPriority(),
  exit: () => process.exit(1),
  throw: () => {
    throw new Error('An error of the task.');
  },
  // Occupies a thread of libuv for about a minute.
  busy: () => {
    pbkdf2('', '', 50_000_000, 64, 'sha512', () => undefined);
    process.stdout.write('busy');
    return new Promise(() => undefined);
  },
  never: () => new Promise(() => undefined),
};

handleTasks<string, unknown>(async (task) => TASKS[task]!());

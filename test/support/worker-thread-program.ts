import { parentPort } from 'node:worker_threads';

/* Program of the threads of worker-thread.test.ts. The task is the name of an action. */

const allocated: unknown[] = [];

parentPort!.on('message', (task: 'respond' | 'throw' | 'exit' | 'spin' | 'allocate') => {
  if (task === 'throw') throw new Error('Failed in the thread.');
  if (task === 'exit') process.exit(3);
  while (task === 'spin');
  while (task === 'allocate') allocated.push(new Array(100_000).fill(Math.random()));
  parentPort!.postMessage(`${task}: done`);
});

import { parentPort } from 'node:worker_threads';

/* A thread for tests: each task names what it is to do. */

const hoard: unknown[] = [];

parentPort!.on('message', (task: 'answer' | 'throw' | 'exit' | 'spin' | 'hoard') => {
  if (task === 'throw') throw new Error('Failed in the thread.');
  if (task === 'exit') process.exit(3);
  while (task === 'spin');
  while (task === 'hoard') hoard.push(new Array(100_000).fill(Math.random()));
  parentPort!.postMessage(`${task}: done`);
});

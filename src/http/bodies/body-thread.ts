import 'reflect-metadata';
import { parentPort } from 'node:worker_threads';
import { type BodyTask, processBody } from './body-task.ts';

/* Worker thread that parses and checks large bodies. */

parentPort!.on('message', (task: BodyTask) => {
  const result = processBody(task);
  const pages = 'pages' in result ? result.pages : [];
  const buffers = pages.flatMap(([, page]) => ('content' in page ? [page.content.buffer] : []));
  parentPort!.postMessage(result, buffers);
});

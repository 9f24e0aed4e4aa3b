import { parentPort } from 'node:worker_threads';
import scalar from '@scalar/fastify-api-reference';
import Fastify from 'fastify';

/** What is to be made: the files at these paths of the reference page. */
export interface ReferenceTask {
  prefix: `/${string}`;
  configuration: Record<string, unknown>;
  paths: `/${string}`[];
}

export interface ReferenceFile {
  path: string;
  /** Content type. */
  type: string;
  body: Uint8Array<ArrayBuffer>;
}

/* The thread that makes the files of the reference page. */

parentPort!.on('message', async ({ prefix, configuration, paths }: ReferenceTask) => {
  const server = Fastify();
  await server.register(scalar, { routePrefix: prefix, configuration: configuration as never });
  const files: ReferenceFile[] = [];
  for (const path of paths) {
    const { headers, rawPayload } = await server.inject({ method: 'GET', url: path });
    files.push({ path, type: String(headers['content-type']), body: Uint8Array.from(rawPayload) });
  }
  await server.close();
  parentPort!.postMessage(
    files,
    files.map(({ body }) => body.buffer),
  );
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

/** OpenStack Swift with its S3 API: a real server that checks V4 signatures. */
export interface Swift {
  /** Settings of a service that stores its bytes there. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

/** Debian's Python, which has the packages. Another Python may come first in the PATH. */
const PYTHON = '/usr/bin/python3';
/** Path in the source folder, also when this file runs from `dist`. */
const PROGRAM = fileURLToPath(new URL('swift_server.py', import.meta.url.replace('/dist/', '/')));
const BUCKET = 'attachments';
const CREDENTIALS = { accessKeyId: 'test:tester', secretAccessKey: 'testing' };

/** Why the Swift server cannot run on this machine; null if it can. */
export const swiftUnavailableReason: string | null =
  spawnSync(PYTHON, ['-c', 'import eventlet, swift.proxy.server, swift.obj.server, swift.common.middleware.s3api'])
    .status === 0
    ? null
    : "Debian's swift-proxy and its servers are not installed.";

export async function startSwift(): Promise<Swift> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-swift-'));
  const server = spawn(PYTHON, [PROGRAM, folder]);
  let errorOutput = '';
  server.stderr.on('data', (chunk) => {
    errorOutput = `${errorOutput}${chunk}`.slice(-4_000);
  });
  const stop = async () => {
    if (server.exitCode === null && server.kill()) await once(server, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  const [port] = await Promise.race([once(createInterface(server.stdout), 'line'), once(server, 'exit')]);
  if (typeof port !== 'string') {
    await stop();
    throw new Error(`Swift does not start: ${errorOutput}`);
  }
  const endpoint = `http://127.0.0.1:${port}`;
  const client = new S3Client({ endpoint, region: 'us-east-1', credentials: CREDENTIALS, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
  client.destroy();
  const settings = {
    STORAGE: 's3',
    S3_ENDPOINT: endpoint,
    S3_BUCKET: BUCKET,
    S3_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    S3_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  };
  return { settings, stop };
}

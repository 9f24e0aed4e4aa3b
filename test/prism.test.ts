import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServiceSchema, type Operation, routeTable } from '../schema/build.ts';
import { placementsOf } from '../src/rest/variables.ts';
import { type Service, startService } from './harness.ts';
import { type Samples, samplesOf } from './support/samples.ts';

const schema = buildServiceSchema();
const reads = routeTable(schema).filter(({ method }) => method === 'GET');

let service: Service;
let samples: Samples;
let folder: string;
let prism: ChildProcess;
let proxy: string;

beforeAll(async () => {
  service = await startService();
  samples = await samplesOf(service.databases.au1, service.demo('A').builderIds[0]!);
  const upstream = await service.app.listen({ host: '127.0.0.1', port: 0 });
  folder = await mkdtemp(join(tmpdir(), 'prism-'));
  const document = join(folder, 'openapi.json');
  await writeFile(document, (await service.request({ url: '/openapi.json' })).body);
  const port = await freePort();
  proxy = `http://127.0.0.1:${port}`;
  const program = join(import.meta.dirname, '..', 'node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');
  prism = spawn(process.execPath, [
    program,
    'proxy',
    document,
    upstream,
    '--host',
    '127.0.0.1',
    '--port',
    String(port),
  ]);
  let output = '';
  await new Promise<void>((ready, fail) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes('listening')) ready();
    };
    prism.stdout!.on('data', read);
    prism.stderr!.on('data', read);
    prism.on('exit', () => fail(new Error(`Prism ended: ${output}`)));
  });
});

afterAll(async () => {
  prism.removeAllListeners('exit');
  const gone = once(prism, 'exit');
  prism.kill();
  await gone;
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Calls through the proxy; Prism reports what the document does not allow, of request or response, in a header. */
async function call(operation: Operation, token: string | null, query = '') {
  const placements = placementsOf(operation, schema);
  const url = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const placement = placements.find((one) => one.name === name)!;
    return samples[getNamedType(placement.argument.type).name]!;
  });
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  if (placements.some(({ place }) => place === 'header')) headers['x-service-builder-id'] = samples.BuilderId!;
  const response = await fetch(`${proxy}${url}${query}`, { headers });
  await response.arrayBuffer();
  const violations = JSON.parse(response.headers.get('sl-violations') ?? '[]') as {
    location: string[];
    message: string;
  }[];
  return { status: response.status, violations };
}

const isOfResponse = ({ location }: { location: string[] }) => location[0] === 'response';

describe.each(reads)('behind Prism, $method $path', (operation) => {
  it('is called and answers as the document says', async () => {
    expect(await call(operation, await service.as('A'))).toEqual({ status: 200, violations: [] });
  });

  it('documents its 401 and 403', async () => {
    const nobody = await call(operation, null);
    expect(nobody.status).toBe(401);
    expect(nobody.violations.filter(isOfResponse)).toEqual([]);
    if (operation.scope === null) return;
    const narrow = await call(
      operation,
      await service.as(
        'A',
        service.demo('A').scopes.filter((scope) => scope !== operation.scope),
      ),
    );
    expect(narrow.status).toBe(403);
    expect(narrow.violations.filter(isOfResponse)).toEqual([]);
  });
});

describe('behind Prism, a wrong query', () => {
  it('is refused by the document where the service refuses it', async () => {
    const list = reads.find(({ path }) => path === '/builders')!;
    const answer = await call(list, await service.as('A'), '?limit=26');
    expect(answer.status).toBe(400);
    expect(answer.violations.filter(isOfResponse)).toEqual([]);
    expect(answer.violations.map(({ location }) => location.join('.'))).toContain('request.query.limit');
  });
});

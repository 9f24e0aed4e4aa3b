import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { startSequencer } from '../../src/domain/events/sequencer.ts';
import { obtainTokens } from '../oauth/code-flow.ts';
import { addApplication, addUser } from '../oauth/fixtures.ts';
import { createGateFixture } from '../support/attendance.ts';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';
import { createSitePhoto } from '../support/site-photo.ts';
import { startSnapshotWriter } from '../support/snapshots.ts';

let service: Service;
let folder: string;
let env: NodeJS.ProcessEnv;
let readme: string;
let stopSequencer: () => Promise<void>;
let stopSnapshots: () => Promise<void>;
const webhookSecret = `whsec_${Buffer.alloc(24, 'a').toString('base64')}`;

beforeAll(async () => {
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  service = await startService({ BASE_URL: baseUrl });
  await service.app.listen({ port });
  stopSequencer = startSequencer(service.databases, { error: () => undefined, info: () => undefined });
  stopSnapshots = await startSnapshotWriter(service);
  readme = await readFile('sdk/README.md', 'utf8');
  folder = await mkdtemp(join(tmpdir(), 'sdk-readme-'));
  await symlink(resolve('node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'README.md'), 'No image.');
  await writeFile(join(folder, 'site.png'), await createSitePhoto(64, 48));
  const { clientId, clientSecret } = service.findDemoClient('A');
  const { builderId, projectId, workers } = createGateFixture();
  env = {
    PATH: process.env.PATH,
    NODE_NO_WARNINGS: '1',
    BASE_URL: baseUrl,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret!,
    BUILDER_ID: builderId,
    PROJECT_ID: projectId,
    WORKER_ID: workers.active[0],
  };
});

afterAll(async () => {
  await stopSequencer?.();
  await stopSnapshots?.();
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const START = `import { createClient } from '@builder-integration/client';
const { BUILDER_ID: builderId = '', PROJECT_ID: projectId = '', WORKER_ID: workerId = '' } = process.env;
`;

/** The client of the first example, with every scope of the demo's client. */
const createStart = () => {
  const first = findExample('begin')
    .replace(/^import .*\n/, '')
    .replace(/const \{ data \}[\s\S]*/, '');
  return START + first.replace(/scopes: \[.*\]/, `scopes: ${JSON.stringify(service.findDemoClient('A').scopes)}`);
};

const findExample = (name: string) =>
  new RegExp(`<!-- example:${name} -->\n\`\`\`ts\n([\\s\\S]*?)\`\`\``).exec(readme)![1]!;

/** Starts an example as a program of its own, exactly as it is printed. */
async function start(name: string, settings: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
  const example = findExample(name);
  const path = join(folder, `${name}.ts`);
  await writeFile(path, name === 'begin' || name === 'person' ? example : createStart() + example);
  // The package's own sources, so that the examples need no build.
  return spawn(process.execPath, ['--conditions=source', path], {
    cwd: folder,
    env: { ...env, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs an example. Returns what it prints. */
async function run(name: string, settings: NodeJS.ProcessEnv = {}): Promise<string[]> {
  const child = await start(name, settings);
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk));
  await once(child, 'close');
  if (child.exitCode !== 0) throw new Error(output);
  return output.trim().split('\n');
}

describe.concurrent('the examples of the README of the client package', () => {
  it('begin with the names of the connected builders', async () => {
    expect((await run('begin')).join('')).toMatch(/\[ *'/);
  });

  it.each([
    ['lists', ['true 5 true']],
    ['errors', ['NOT_FOUND', 'limit']],
    ['write', ['COMPLETED']],
    ['report', ['synced']],
    ['events', ['meeting.created meeting']],
    ['gate', ['ACTIVE', '0 0']],
  ])('%s', async (name, output) => {
    expect(await run(name)).toEqual(output);
  });

  // A builder has one snapshot at a time.
  it('copy a builder, and download a snapshot', async () => {
    expect(await run('sync')).toEqual(['true true']);
    expect(await run('snapshot')).toEqual(['READY true true']);
  });

  it('upload one and many, and say which failed', async () => {
    const lines = await run('upload');
    expect(lines.slice(0, 3)).toEqual(['site.png', '1 of 2', '2 of 2']);
    expect(lines[3]).toContain('README.md');
  });

  it('receive a signed webhook', async ({ expect }) => {
    const port = await freePort();
    const child = await start('webhooks', { PORT: String(port), WEBHOOK_SECRET: webhookSecret });
    try {
      const body = JSON.stringify({ id: 'evt_1', type: 'photo.created' });
      const now = new Date();
      const headers = {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(webhookSecret).sign('evt_1', now, body),
      };
      const send = () =>
        fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body }).then(({ status }) => status);
      await expect.poll(() => send().catch(() => 0)).toBe(204);
    } finally {
      child.kill();
    }
  });

  it('act in the name of a person', async () => {
    const em = service.databases.au1.fork();
    const { integratorId } = await em.findOneOrFail(OAuthClient, { id: env.CLIENT_ID! });
    await addUser(service, 'user_readme', [env.BUILDER_ID!]);
    await addApplication(service, 'cli_readme', { integratorId });
    const { refresh_token: refreshToken } = await obtainTokens(service, {
      clientId: 'cli_readme',
      email: 'user_readme@example.com',
    });
    await writeFile(join(folder, 'tokens.json'), JSON.stringify({ refreshToken }));
    expect(await run('person', { CODE_CLIENT_ID: 'cli_readme' })).toEqual(['user']);
    expect(JSON.parse(await readFile(join(folder, 'tokens.json'), 'utf8')).refreshToken).not.toBe(refreshToken);
  });

  it('are twelve', () => {
    expect(readme.match(/<!-- example:(?!end)/g)).toHaveLength(12);
  });
});

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
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
import type { ExampleRun } from './examples-program.ts';

const PROGRAM = join(import.meta.dirname, 'examples-program.ts');

/** Examples that run to their end, with what they print. */
const OUTPUT = {
  begin: expect.stringMatching(/^\[ *'/),
  lists: 'true 5 true',
  errors: 'NOT_FOUND\nlimit',
  write: 'COMPLETED',
  report: 'synced',
  events: 'meeting.created meeting',
  gate: 'ACTIVE\n0 0',
  sync: 'true true',
  snapshot: 'READY true true',
  upload: expect.stringMatching(/^site.png\n1 of 2\n2 of 2\nREADME.md /),
  person: 'user',
};

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
    CODE_CLIENT_ID: 'cli_readme',
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

/** Writes an example exactly as it is printed, with the client of the first one. */
async function writeExample(name: string): Promise<string> {
  const example = findExample(name);
  const path = join(folder, `${name}.ts`);
  await writeFile(path, name === 'begin' || name === 'person' ? example : createStart() + example);
  return path;
}

// The package's own sources, so that the examples need no build.
const FLAGS = ['--conditions=source'];

/** Runs examples in a program of their own. Returns what each prints. */
async function run(...names: string[]): Promise<Record<string, string>> {
  for (const name of names) await writeExample(name);
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, PROGRAM, ...names], { cwd: folder, env });
  const runs = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ExampleRun);
  return Object.fromEntries(runs.map(({ name, lines, error }) => [name, error ?? lines.join('\n')]));
}

describe('the examples of the README of the client package', () => {
  it('do and print what they say', async () => {
    const em = service.databases.au1.fork();
    const { integratorId } = await em.findOneOrFail(OAuthClient, { id: env.CLIENT_ID! });
    await addUser(service, 'user_readme', [env.BUILDER_ID!]);
    await addApplication(service, 'cli_readme', { integratorId });
    const { refresh_token: refreshToken } = await obtainTokens(service, {
      clientId: env.CODE_CLIENT_ID!,
      email: 'user_readme@example.com',
    });
    await writeFile(join(folder, 'tokens.json'), JSON.stringify({ refreshToken }));
    const names = Object.keys(OUTPUT);
    expect(await run(...names)).toEqual(OUTPUT);
    // The refresh token of the person is used once.
    expect(JSON.parse(await readFile(join(folder, 'tokens.json'), 'utf8')).refreshToken).not.toBe(refreshToken);
  });

  it('receive a signed webhook', async () => {
    const port = await freePort();
    const settings = { PORT: String(port), WEBHOOK_SECRET: webhookSecret };
    const args = [...FLAGS, await writeExample('webhooks')];
    const child = spawn(process.execPath, args, { cwd: folder, env: { ...env, ...settings }, stdio: 'ignore' });
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

  it('are these, and no other', () => {
    const names = [...readme.matchAll(/<!-- example:(?!end)(\w+)/g)].map(([, name]) => name!);
    expect(names.sort()).toEqual([...Object.keys(OUTPUT), 'webhooks'].sort());
  });
});

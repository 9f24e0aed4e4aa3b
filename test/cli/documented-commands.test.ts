import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createDispatcher, runDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

let service: Service;
let port: number;
let folder: string;

beforeAll(async () => {
  port = await freePort();
  service = await startService({ BASE_URL: `http://localhost:${port}` });
  await service.app.listen({ host: 'localhost', port });
  folder = await mkdtemp(join(tmpdir(), 'documented-commands-'));
  await mkdir(join(folder, '.data'));
  await writeFile(join(folder, '.data', 'demo.json'), JSON.stringify(inject('demo')));
  for (const name of ['docs', 'node_modules']) await symlink(join(ROOT, name), join(folder, name));
  await numberPendingEvents(service.databases.au1);
  advanceClock();
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Sets the clock of the service to the time of the machine, which the commands read. */
const advanceClock = () => service.clock.advance(Date.now() - service.clock.now());

/** The shell commands between two markers of a page, with the address of this test's service. */
async function commandsOf(page: string, name: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const [begin, end] = [`<!-- commands:${name}:begin -->\n\`\`\`sh\n`, `\`\`\`\n<!-- commands:${name}:end -->`];
  const commands = text.split(begin)[1]?.split(end)[0];
  if (commands === undefined) throw new Error(`${page} has no commands between the markers commands:${name}.`);
  return commands.replaceAll('localhost:4000', `localhost:${port}`);
}

/**
 * Runs the page's commands after the first ones, by default those of the page that fetch a token, beside the demo credentials. Returns the
 * JSON documents that they print.
 */
async function runCommands(page: string, name: string, first?: string) {
  const script = `${first ?? (await commandsOf(page, 'token'))}\n${await commandsOf(page, name)}`;
  advanceClock();
  const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd: folder });
  const documents = stdout.trim().replace(/\}\s*\{"/g, '}\n{"');
  return documents.split('\n').map((line) => JSON.parse(line));
}

const namesOf = (rows: { name: string }[]) => rows.map(({ name }) => name);

describe('the first call of the README', () => {
  it('reads the running projects of a builder, alike in REST and GraphQL', async () => {
    const [rest] = await runCommands('README.md', 'rest');
    const [graphql] = await runCommands('README.md', 'graphql');
    expect(graphql.errors).toBeUndefined();
    expect(rest.meta.totalCount).toBeGreaterThan(0);
    expect(namesOf(graphql.data.projects.data)).toEqual(namesOf(rest.data));
    expect(graphql.data.builder.name).toEqual(expect.any(String));
  });
});

describe('the commands of docs/rest.md', () => {
  it('list builders, projects and timesheets, and show the errors of a wrong request', async () => {
    const [builders, projects, timesheets, wrong] = await runCommands(
      'docs/rest.md',
      'reading',
      await readSteps('token'),
    );
    expect(builders.data.map(({ id }: { id: string }) => id)).toEqual(service.findDemoClient('A').builderIds);
    expect(new Set(projects.data.map(({ status }: { status: string }) => status))).toEqual(new Set(['IN_PROGRESS']));
    expect(timesheets.meta).toMatchObject({ offset: 0, limit: 5 });
    expect(timesheets.data.length).toBeGreaterThan(0);
    expect(wrong.errors.map(({ fieldName }: { fieldName: string }) => fieldName).sort()).toEqual(['limit', 'offset']);
  });
});

const TUTORIAL = 'docs/tutorial.md';

/** The commands of the tutorial's first steps. */
const readSteps = async (...names: string[]) =>
  (await Promise.all(names.map((name) => commandsOf(TUTORIAL, name)))).join('\n');

/** Starts a program and lets the service deliver events until the program has printed the text. Returns what it has printed. */
async function runUntil(text: string, command: string, args: string[], env: Record<string, string>): Promise<string> {
  const program = spawn(command, args, { cwd: folder, env: { ...process.env, ...env }, detached: true });
  const ended = once(program, 'exit');
  const dispatcher = createDispatcher(service);
  let output = '';
  for (const stream of [program.stdout, program.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  try {
    await expect
      .poll(
        async () => {
          advanceClock();
          await numberPendingEvents(service.databases.au1);
          await runDispatcher(dispatcher);
          return output;
        },
        { timeout: 30_000, interval: 200 },
      )
      .toContain(text);
    return output;
  } finally {
    await dispatcher.stop(0);
    try {
      process.kill(-program.pid!, 'SIGKILL');
    } catch {
      // The program and what it started have ended.
    }
    await ended;
  }
}

describe('the tutorial', () => {
  it('leads from a token to a received webhook in a shell', async () => {
    const receiver = /<!-- receiver:begin -->\n```js\n([\s\S]*?)```/.exec(
      await readFile(join(ROOT, 'docs/webhooks.md'), 'utf8'),
    )![1]!;
    await writeFile(join(folder, 'receiver.mjs'), receiver);
    const receiverPort = String(await freePort());
    const steps = await readSteps('token', 'project', 'upload', 'gallery', 'report', 'webhook');
    const script = `${steps.replaceAll(':3000', `:${receiverPort}`)}\nwait`;
    const output = await runUntil('photo_report.updated', 'bash', ['-eu', '-c', script], { PORT: receiverPort });
    expect(output).toContain('"status":"synced","idempotent":false');
    expect(output).toContain('"sourceRevision":2');
  });

  it('does the same in TypeScript, without a build', async () => {
    const page = await readFile(join(ROOT, TUTORIAL), 'utf8');
    const program = /<!-- program:begin -->\n```ts\n([\s\S]*?)```/.exec(page)![1]!;
    await writeFile(join(folder, 'tutorial.ts'), program);
    const env = { BASE_URL: `http://localhost:${port}`, PORT: String(await freePort()) };
    const output = await runUntil("type: 'photo_report.created'", process.execPath, ['tutorial.ts'], env);
    expect(output).toContain("status: 'synced'");
  });
});

describe('docs/webhooks.md', () => {
  it('creates an endpoint', async () => {
    const [endpoint] = await runCommands('docs/webhooks.md', 'endpoint', await readSteps('token'));
    expect(endpoint).toMatchObject({ status: 'ACTIVE', secret: expect.stringMatching(/^whsec_/) });
  });
});

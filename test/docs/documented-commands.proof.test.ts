import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startSequencer } from '../../src/domain/events/sequencer.ts';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { Browser } from '../oauth/browser.ts';
import { createGateFixture } from '../support/attendance.ts';
import { createDispatcher, runDispatcher } from '../support/dispatcher.ts';
import { numberPendingEvents } from '../support/events.ts';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';
import { readBlock, readResponse } from '../support/printed-blocks.ts';
import { startSnapshotWriter } from '../support/snapshots.ts';

const run = promisify(execFile);

let service: Service;
let port: number;
let folder: string;
let stopSequencer: () => Promise<void>;
let stopSnapshots: () => Promise<void>;

beforeAll(async () => {
  port = await freePort();
  service = await startService({ BASE_URL: `http://localhost:${port}` });
  await service.app.listen({ host: 'localhost', port });
  folder = await mkdtemp(join(tmpdir(), 'documented-commands-'));
  await mkdir(join(folder, '.data'));
  // The gate of the demo's company is in a project that the company of the tests does not have.
  await writeFile(
    join(folder, '.data', 'demo.json'),
    JSON.stringify({ ...inject('demo'), attendance: createGateFixture() }),
  );
  for (const name of ['docs', 'node_modules', 'test']) await symlink(join(PACKAGE_ROOT, name), join(folder, name));
  await numberPendingEvents(service.databases.au1);
  stopSequencer = startSequencer(service.databases, { error: () => undefined, info: () => undefined });
  stopSnapshots = await startSnapshotWriter(service);
  advanceClock();
});

afterAll(async () => {
  await stopSequencer();
  await stopSnapshots();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Sets the clock of the service to the time of the machine, which the commands read. */
const advanceClock = () => service.clock.advance(Date.now() - service.clock.now());

/** Returns the commands of a page, with the address of this test's service. */
const commandsOf = (page: string, ...names: string[]) =>
  names.map((name) => readBlock(page, `commands:${name}`).replaceAll('localhost:4000', `localhost:${port}`)).join('\n');

/** Runs a script beside the demo credentials, with the time of the machine also where it takes long. Returns what it prints. */
async function runScript(script: string): Promise<string> {
  advanceClock();
  const timer = setInterval(advanceClock, 1_000);
  try {
    const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd: folder });
    return stdout;
  } finally {
    clearInterval(timer);
  }
}

/** Returns the JSON documents that commands print, without the other lines. Only the next document or a new line ends one. */
const parseDocuments = (text: string) =>
  text
    .replace(/\}\s*\{"/g, '}\n{"')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** Runs the page's commands after the first ones, by default those of the page that fetch a token. Returns the documents that they print. */
const runCommands = async (page: string, name: string, first = commandsOf(page, 'token')) =>
  parseDocuments(await runScript(`${first}\n${commandsOf(page, name)}`));

const TUTORIAL = 'docs/tutorial.md';
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
  it('list projects and timesheets, and show the errors of a wrong request', async () => {
    const [projects, timesheets, wrong] = await runCommands('docs/rest.md', 'reading', commandsOf(TUTORIAL, 'token'));
    expect(new Set(projects.data.map(({ status }: { status: string }) => status))).toEqual(new Set(['IN_PROGRESS']));
    expect(timesheets.meta).toMatchObject({ offset: 0, limit: 5 });
    expect(timesheets.data.length).toBeGreaterThan(0);
    expect(wrong.errors.map(({ fieldName }: { fieldName: string }) => fieldName).sort()).toEqual(['limit', 'offset']);
  });
});

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
    await writeFile(join(folder, 'receiver.mjs'), readBlock('docs/webhooks.md', 'receiver'));
    const receiverPort = String(await freePort());
    const steps = commandsOf(TUTORIAL, 'token', 'project', 'upload', 'gallery', 'report', 'webhook');
    const script = `${steps.replaceAll(':3000', `:${receiverPort}`)}\nwait`;
    const output = await runUntil('photo_report.updated', 'bash', ['-eu', '-c', script], { PORT: receiverPort });
    expect(output).toContain('"status":"synced","idempotent":false');
    expect(output).toContain('"sourceRevision":2');
  });
});

describe('the program', () => {
  it.each([
    ['docs/tutorial.md', 'program', "type: 'photo_report.created'"],
    ['docs/attendance.md', 'gate', 'APPLIED'],
    ['docs/stay-in-sync.md', 'sync', 'records at'],
  ])('of %s runs as it is printed, without a build', async (page, name, output) => {
    await writeFile(join(folder, `${name}.ts`), readBlock(page, name));
    const env = { BASE_URL: `http://localhost:${port}`, PORT: String(await freePort()) };
    expect(await runUntil(output, process.execPath, ['--conditions=source', `${name}.ts`], env)).toContain(output);
  });
});

describe('the requests of the guide', () => {
  it.each([
    ['docs/rest.md', ['token'], ['first']],
    ['docs/graphql.md', ['token'], ['first']],
    ['docs/webhooks.md', ['token'], ['first']],
    ['docs/stay-in-sync.md', ['token'], ['first', 'snapshot']],
    ['docs/debugging.md', ['token'], ['first']],
    ['docs/gallery-sync.md', ['token', 'project', 'upload'], ['first']],
    ['docs/photo-reports.md', ['token', 'project'], ['first']],
    ['docs/meetings.md', ['token', 'project'], ['first', 'note']],
    [
      'docs/attendance.md',
      ['token', 'project'],
      ['first', 'sign-on', 'sign-off', 'offline', 'conflicts', 'day', 'clock'],
    ],
  ])('%s have the responses that are printed', async (page, steps, names) => {
    const output = await runScript(`${commandsOf(TUTORIAL, ...steps)}\n${commandsOf(page, ...names)}`);
    const responses = parseDocuments(output);
    const printed = names.map((name) => readResponse(page, `commands:${name}`));
    expect(toPrinted(responses, printed)).toEqual(printed);
  });
});

describe('docs/code-flow.md', () => {
  it('leads from the address that a user opens to tokens, and to new ones', async () => {
    const page = 'docs/code-flow.md';
    const script = commandsOf(page, 'authorize', 'code', 'exchange', 'refresh');
    const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd: folder });
    const [address] = await once(shell.stdout, 'data');
    const { pathname, search } = new URL(String(address));
    const { email, password } = service.findDemoUser(({ builderIds }) => builderIds.length === 1);
    const browser = new Browser(service.app);
    const consent = await browser.signIn(await browser.send('GET', pathname + search), email, password);
    const location = (await browser.submit(consent, 'Allow')).location!;
    const [, code] = /code=(.*?)&state=any-text&iss=/.exec(location)!;
    shell.stdin.end(`${code}\n`);
    const [first, second] = parseDocuments(await text(shell.stdout));
    const printed = readResponse(page, 'commands:exchange');
    expect(toPrinted(first, printed)).toEqual(printed);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const [company] = parseDocuments(
      await runScript(`curl -s localhost:${port}/builders -H 'Authorization: Bearer ${second.access_token}'`),
    );
    expect(company.data).toHaveLength(1);
  });

  it('starts the program, which prints the address for the user', async () => {
    const command = readBlock('docs/code-flow.md', 'commands:program');
    const env = { BASE_URL: `http://localhost:${port}` };
    const output = await runUntil('code_challenge_method=S256', 'bash', ['-eu', '-c', command], env);
    expect(output).toContain(`http://localhost:${port}/oauth/authorize?response_type=code&client_id=cli_`);
  });
});

/** Returns the value with what differs from run to run as it is printed: the rest of a text after its beginning and `…`, and times. */
function toPrinted(value: unknown, printed: unknown): unknown {
  if (typeof value === 'string' && typeof printed === 'string') return isLike(value, printed) ? printed : value;
  if (!value || !printed || typeof value !== 'object' || typeof printed !== 'object') return value;
  if (Array.isArray(value)) return value.map((item, index) => toPrinted(item, Object.values(printed)[index]));
  const others = printed as Record<string, unknown>;
  const isVariable = (name: string) => name === 'durationMs';
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      isVariable(name) ? others[name] : toPrinted(each, others[name]),
    ]),
  );
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/;
const isLike = (value: string, printed: string) =>
  printed.endsWith('…') ? value.startsWith(printed.slice(0, -1)) : TIME.test(value) && TIME.test(printed);

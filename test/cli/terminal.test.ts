import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgressReporter } from '../../src/cli/io/progress.ts';
import { toTerminalLine, toTerminalText } from '../../src/shared/terminal-text.ts';
import { startMailServer } from '../support/mail-server.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { type CliHarness, seedBuilders, startCli, TextCollector } from './cli-harness.ts';

/** Clears the screen, sets the title, moves the cursor, reorders the line, and begins a line of its own. */
const HOSTILE = 'Sam\u001b[2J\u001b]0;title\u0007\u009b1A\u202eevil\r\nuser_admin  ADMIN';
const CONTROL = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

let cli: CliHarness;
let folder: string;

beforeAll(async () => {
  cli = await startCli();
  folder = await mkdtemp(join(tmpdir(), 'builder-api-terminal-'));
  await seedBuilders(cli);
  const run = (sql: string) => cli.databases.au1.fork().execute(sql, [HOSTILE]);
  await run(`update worker set full_name = ? where id = 'wkr_a'`);
  await run(`update builder set name = ? where id = 'buil_a'`);
  await run(
    `insert into app_user (id, name, email, created_at, updated_at) values ('user_a', ?, 'sam@example.com', now(), now())`,
  );
  await run(
    `insert into integrator (id, name, deep_link_schemes, created_at, updated_at) values ('intg_a', ?, '{}', now(), now())`,
  );
});
afterAll(async () => {
  await cli.close();
  await rm(folder, { recursive: true, force: true });
});

describe('text of others', () => {
  it.each([
    [['person', 'find', HOSTILE]],
    [['user', 'show', 'user_a']],
    [['user', 'list']],
    [['integrator', 'show', 'intg_a']],
    [['integrator', 'list']],
    [['membership', 'add', '--user', 'user_a', '--builder', 'buil_a']],
    [['membership', 'remove', '--user', 'user_a', '--builder', 'buil_a']],
    [['user', 'show', HOSTILE]],
    [['client', 'show', HOSTILE]],
    [['audit', 'list', '--object', HOSTILE]],
  ])('is printed by %j without control characters and lines of its own', async (args) => {
    for (const json of [[], ['--json']]) {
      const { out, err } = await cli.run([...args, ...json]);
      expect(out + err).not.toMatch(CONTROL);
      expect(out + err).not.toMatch(/^user_admin/m);
    }
  });

  it('in JSON is the same value', async () => {
    const { people } = await cli.json(['person', 'find', HOSTILE]);
    expect(people).toMatchObject([
      { id: 'user_a', name: HOSTILE },
      { id: 'wkr_a', name: HOSTILE },
    ]);
  });

  it('is that of a receiver of webhooks, too', async () => {
    const receiver = await WebhookReceiver.start();
    receiver.respond = (_received, response) => void response.end(HOSTILE);
    const { clientId } = await cli.json([
      ...['client', 'create', '--name', 'App', '--integrator', 'intg_a', '--scope', 'read:projects'],
    ]);
    const { endpointId } = await cli.json(['webhook', 'create', '--client', clientId, '--url', receiver.url]);
    const { out } = await cli.run(['webhook', 'test', endpointId]);
    await receiver.close();
    expect(out).toContain('Sam\\u001b[2J');
    expect(out).not.toMatch(CONTROL);
  });

  it('is the name of a file in a folder of an import, too', async () => {
    await writeFile(join(folder, `${HOSTILE.replaceAll('/', '')}.ndjson`), '');
    const { err } = await cli.run(['import', folder]);
    expect(err).toContain('is not a file of the format');
    expect(err).not.toMatch(CONTROL);
    expect(err.trimEnd()).not.toContain('\n');
  });

  it.each([true, false])('is printed without control characters by progress (terminal: %s)', (isTTY) => {
    const stderr = Object.assign(new TextCollector(), { isTTY });
    createProgressReporter({ stderr }).log(HOSTILE);
    expect(stderr.text.replace('\r\u001b[K', '')).not.toMatch(CONTROL);
    expect(stderr.text.trimEnd()).not.toContain('\n');
  });
});

describe('every place that prints', () => {
  it('passes its text through toTerminalText or toTerminalLine, or prints only what another process has printed', async () => {
    const source = fileURLToPath(new URL('../../src', import.meta.url));
    const found: string[] = [];
    for (const name of await readdir(source, { recursive: true })) {
      if (!name.endsWith('.ts') || name.startsWith('console/browser')) continue;
      const text = await readFile(join(source, name), 'utf8');
      for (const [call] of text.matchAll(/\b(?:std(?:out|err)\??\.write\(|console\.(?:log|info|warn|error)\().*/g))
        if (!/toTerminal(?:Text|Line)\(|write\('/.test(call)) found.push(`${name}: ${call}`);
    }
    expect(found).toEqual(['supervision/supervisor.ts: stderr.write(chunk);']);
  });

  it('includes a failed message to a user, of which the mail server says why', async () => {
    const server = await startMailServer();
    server.isFailing = true;
    Object.assign(cli.env, { SMTP_URL: server.url, MAIL_FROM: 'no-reply@example.com' });
    const { err } = await cli.run(['user', 'update', 'user_a', '--email', 'new@example.com']);
    await server.close();
    expect(err).toContain('Try again later.\\u202e');
    expect(err).not.toMatch(CONTROL);
  });
});

describe('toTerminalText', () => {
  it('keeps other text, and line feeds', () => {
    const text = 'Zoë Müller 👩‍🔧 ß\nİ';
    expect([toTerminalText(text), toTerminalLine('a\nb')]).toEqual([text, 'a\\u000ab']);
  });
});

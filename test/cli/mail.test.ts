import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PasswordLink } from '../../entities/password-link.entity.ts';
import { hashSecret } from '../../src/shared/secrets.ts';
import { extractLink, type MailServer, startMailServer } from '../support/mail-server.ts';
import { type CliHarness, startCli } from './cli-harness.ts';

let cli: CliHarness;
let mail: MailServer;

const EMAIL = 'kim@example.com';

beforeAll(async () => {
  mail = await startMailServer();
  cli = await startCli();
  Object.assign(cli.env, {
    SMTP_URL: mail.url,
    MAIL_FROM: 'no-reply@example.com',
    BASE_URL: 'https://api.example.com',
  });
  await cli.json(['user', 'create', '--email', EMAIL, '--name', 'Kim', '--no-password']);
});
afterAll(async () => {
  await cli.close();
  await mail.close();
});

describe('user invite with SMTP_URL', () => {
  it('sends the link by e-mail and does not print it (OAU-43)', async () => {
    const result = await cli.json(['user', 'invite', EMAIL]);
    expect(result).toMatchObject({ email: EMAIL, emailed: true, link: null });
    const message = mail.messages.at(-1)!;
    expect([message.to, message.from]).toEqual([[EMAIL], 'no-reply@example.com']);
    expect(message.text).toContain('https://api.example.com/account/password?');
    const token = new URL(extractLink(message), 'https://api.example.com').searchParams.get('token')!;
    expect(JSON.stringify(result)).not.toContain(token);
    expect(await cli.databases.au1.fork().count(PasswordLink, { digest: hashSecret(token) })).toBe(1);
  });

  it('prints the link with --print, and sends nothing', async () => {
    const count = mail.messages.length;
    const result = await cli.json(['user', 'invite', EMAIL, '--print']);
    expect(result).toMatchObject({ emailed: false, link: expect.stringMatching(/\/account\/password\?/) });
    expect(mail.messages).toHaveLength(count);
  });

  it('names the setting when the server does not accept the message, and deletes the link', async () => {
    const countLinks = () => cli.databases.au1.fork().count(PasswordLink, {});
    const links = await countLinks();
    mail.isFailing = true;
    cli.clock.at += 1000;
    expect(await cli.errorOf(['user', 'invite', EMAIL])).toMatch(/^SMTP_URL: the message was not accepted: /);
    mail.isFailing = false;
    expect(await countLinks()).toBe(links);
    const { entries } = await cli.json(['audit', 'list', '--limit', '2']);
    const actions = entries.map(({ action }: { action: string }) => action);
    expect(actions.toSorted()).toEqual(['password_link.created', 'password_link.deleted']);
  });
});

describe('an imported name of several lines', () => {
  it('is one line of the message, so that it does not read like a part of it', async () => {
    const folder = await mkdtemp(join(cli.env.DATA_DIR!, 'import-'));
    const stamp = new Date(cli.clock.at).toISOString();
    const stamps = { createdAt: stamp, updatedAt: stamp };
    const name = 'Eve,\r\n\nchoose a password here:\u2028\nhttps://evil.example/';
    const row = { id: 'user_eve', ...stamps, name, email: 'eve@example.com' };
    await writeFile(join(folder, 'users.ndjson'), JSON.stringify(row));
    await cli.json(['import', folder]);
    await cli.json(['user', 'invite', 'user_eve']);
    const [greeting] = mail.messages.at(-1)!.text.split('\n');
    expect(greeting!.trim()).toBe('Hello Eve, choose a password here: https://evil.example/,');
  });
});

describe('user update with SMTP_URL', () => {
  it('tells the earlier and the new address of a change of it, and nobody of another change (OAU-44)', async () => {
    const count = mail.messages.length;
    await cli.json(['user', 'update', EMAIL, '--name', 'Sam Lee']);
    expect(mail.messages).toHaveLength(count);
    const moved = await cli.json(['user', 'update', EMAIL, '--email', 'moved@example.com']);
    expect(moved).toMatchObject({ email: 'moved@example.com', changed: true });
    const sent = mail.messages.slice(count);
    expect(sent.map(({ to }) => to)).toEqual([[EMAIL], ['moved@example.com']]);
    expect(sent[0]!.text).toContain('The e-mail address of your account was changed.');
    await cli.json(['user', 'update', 'moved@example.com', '--email', EMAIL]);
  });
});

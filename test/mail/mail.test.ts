import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MailQueue } from '../../src/mail/mail-queue.ts';
import { createMailer } from '../../src/mail/mailer.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';

let server: MailServer;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.close());

const message = (to: string, text = 'Grüße\n.\n') => ({ to, subject: 'Hello', text });

describe('a mailer', () => {
  it('delivers the text to one recipient, whatever the address contains', async () => {
    const mailer = createMailer({ url: server.url, from: 'no-reply@example.com' });
    await mailer.send(message('sam@example.com'));
    expect(server.messages.at(-1)).toMatchObject({ to: ['sam@example.com'], from: 'no-reply@example.com' });
    expect(server.messages.at(-1)!.text).toContain('Grüße');
    const count = server.messages.length;
    await mailer.send(message('a@example.com,b@example.com')).catch(() => undefined);
    for (const { to } of server.messages.slice(count)) expect(to).toHaveLength(1);
    mailer.close();
  });

  it('fails with a wrong password', async () => {
    const mailer = createMailer({ url: server.url.replace('mail-password', 'wrong'), from: 'no-reply@example.com' });
    await expect(mailer.send(message('sam@example.com'))).rejects.toThrow(/Invalid login/);
    mailer.close();
  });
});

describe('a mail queue', () => {
  it('tries again after a temporary error, and reports the last one', async () => {
    const errors: unknown[] = [];
    const queue = new MailQueue((error) => errors.push(error), [0, 0]);
    const mailer = createMailer({ url: server.url, from: 'no-reply@example.com' });
    let attempts = 0;
    queue.add(async () => {
      server.failing = ++attempts < 3;
      await mailer.send(message('retried@example.com'));
    });
    await queue.drain();
    expect([attempts, errors]).toEqual([3, []]);
    server.failing = true;
    queue.add(() => mailer.send(message('lost@example.com')));
    await queue.drain();
    server.failing = false;
    expect(errors).toEqual([expect.objectContaining({ responseCode: 451 })]);
    expect(server.messages.flatMap(({ to }) => to)).not.toContain('lost@example.com');
    mailer.close();
  });

  it('holds at most 1,000 pieces of work, and none after it is closed', async () => {
    const queue = new MailQueue(() => undefined, []);
    let release = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const added = Array.from({ length: 1001 }, () => queue.add(() => blocked));
    expect([added.filter(Boolean).length, added.at(-1)]).toEqual([1000, false]);
    release();
    await queue.close();
    expect(queue.add(async () => undefined)).toBe(false);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MailQueue } from '../../src/mail/mail-queue.ts';
import { createMailer, describeMailError } from '../../src/mail/mailer.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';

let server: MailServer;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.close());

const message = (to: string, text = 'Grüße\n.\n') => ({ to, subject: 'Hello', text });

describe('a mailer', () => {
  it('delivers the text to one recipient, whatever the address contains', async () => {
    const mailer = await createMailer({ url: server.url, from: 'no-reply@example.com' });
    await mailer.send(message('sam@example.com'));
    expect(server.messages.at(-1)).toMatchObject({ to: ['sam@example.com'], from: 'no-reply@example.com' });
    expect(server.messages.at(-1)!.text).toContain('Grüße');
    const count = server.messages.length;
    await mailer.send(message('a@example.com,b@example.com')).catch(() => undefined);
    for (const { to } of server.messages.slice(count)) expect(to).toHaveLength(1);
    mailer.close();
  });

  it('fails with a wrong password', async () => {
    const mailer = await createMailer({
      url: server.url.replace('mail-password', 'wrong'),
      from: 'no-reply@example.com',
    });
    await expect(mailer.send(message('sam@example.com'))).rejects.toThrow(/Invalid login/);
    mailer.close();
  });
});

describe('describeMailError', () => {
  it('contains no address, which servers quote', async () => {
    const mailer = await createMailer({ url: server.url, from: 'no-reply@example.com' });
    server.isRejecting = true;
    const error = await mailer.send(message('sam@example.com')).catch((caught: Error) => caught as Error);
    server.isRejecting = false;
    mailer.close();
    expect(JSON.stringify([(error as Error).message, error])).toContain('sam@example.com');
    expect(describeMailError(error)).toEqual({
      type: 'Error',
      code: 'EENVELOPE',
      command: 'RCPT TO',
      responseCode: 550,
    });
  });
});

describe('a mail queue', () => {
  it('runs other work while one piece waits, at most four at a time', async () => {
    const queue = new MailQueue(() => undefined, []);
    const releases: (() => void)[] = [];
    const started: number[] = [];
    for (const index of [0, 1, 2, 3, 4, 5]) {
      queue.add(() => {
        started.push(index);
        return new Promise<void>((resolve) => releases.push(resolve));
      });
    }
    await expect.poll(() => started).toEqual([0, 1, 2, 3]);
    releases[2]!();
    await expect.poll(() => started).toEqual([0, 1, 2, 3, 4]);
    for (const release of releases) release();
    await expect.poll(() => started).toHaveLength(6);
    releases.at(-1)!();
    await queue.drain();
  });

  it('ends within the time limit when a server does not answer, and counts what it abandons', async () => {
    const queue = new MailQueue(() => undefined, []);
    for (let count = 0; count < 7; count++) queue.add(() => new Promise(() => undefined));
    expect(await queue.close(10)).toBe(7);
  });

  it('does not wait for the delay of a further attempt when it is closed', async () => {
    const errors: unknown[] = [];
    const queue = new MailQueue((error) => errors.push(error), [3_600_000]);
    let attempts = 0;
    queue.add(async () => {
      attempts++;
      throw new Error('Not now.');
    });
    await expect.poll(() => attempts).toBe(1);
    expect(await queue.close()).toBe(0);
    expect([attempts, errors.length]).toEqual([2, 1]);
  });

  it('tries again after a temporary error, and reports the last one', async () => {
    const errors: unknown[] = [];
    const queue = new MailQueue((error) => errors.push(error), [0, 0]);
    const mailer = await createMailer({ url: server.url, from: 'no-reply@example.com' });
    let attempts = 0;
    queue.add(async () => {
      server.isFailing = ++attempts < 3;
      await mailer.send(message('retried@example.com'));
    });
    await queue.drain();
    expect([attempts, errors]).toEqual([3, []]);
    server.isFailing = true;
    queue.add(() => mailer.send(message('lost@example.com')));
    await queue.drain();
    server.isFailing = false;
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

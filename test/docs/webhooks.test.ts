import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWebhookSecret, signWebhook } from '../../src/domain/webhooks/signature.ts';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { freePort } from '../support/ports.ts';
import { readBlock } from '../support/printed-blocks.ts';

const MAX_LINES = 20;

const secret = newWebhookSecret();
let folder: string;
let program: string;
let receiver: ChildProcess;
let port: number;
let output = '';

beforeAll(async () => {
  program = readBlock('docs/webhooks.md', 'receiver');
  folder = await mkdtemp(join(tmpdir(), 'builder-api-receiver-'));
  await writeFile(join(folder, 'receiver.mjs'), program);
  await symlink(join(PACKAGE_ROOT, 'node_modules'), join(folder, 'node_modules'));
  port = await freePort();
  const env = { PATH: process.env.PATH!, WEBHOOK_SECRET: secret, PORT: String(port) };
  receiver = spawn(process.execPath, [join(folder, 'receiver.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  receiver.stdout!.on('data', (chunk) => {
    output += chunk;
  });
});
afterAll(async () => {
  receiver.kill();
  await once(receiver, 'exit');
  await rm(folder, { recursive: true });
});

async function post(body: string, headers: Record<string, string>): Promise<number> {
  for (;;) {
    try {
      return (await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', headers, body })).status;
    } catch {
      // The program is starting.
      if (receiver.exitCode !== null) throw new Error('The receiver has ended.');
    }
  }
}

describe('the first receiver of docs/webhooks.md', () => {
  const event = { id: 'evt_a1', type: 'timesheet.updated', resource: { path: '/timesheets/ts_a1' } };
  const body = JSON.stringify(event);
  const sign = (secrets: string[]) => ({
    ...signWebhook(secrets, { id: event.id, timestamp: Math.floor(Date.now() / 1000), body }),
  });

  it('has at most 20 lines', () => {
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(MAX_LINES);
  });

  it('accepts a signed delivery, prints it once, and rejects another signature', async () => {
    expect(await post(body, sign([secret]))).toBe(204);
    expect(await post(body, sign([newWebhookSecret(), secret]))).toBe(204);
    expect(await post(body, sign([newWebhookSecret()]))).toBe(401);
    expect(output).toBe('timesheet.updated /timesheets/ts_a1\n');
  });
});

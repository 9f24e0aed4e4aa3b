import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { resetPassword } from '../../src/domain/access/password-links.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { Browser } from '../oauth/browser.ts';
import { PASSWORD } from '../oauth/fixtures.ts';
import { readAllRows } from '../support/all-rows.ts';
import { OPERATOR } from '../support/audit.ts';
import { BuilderClient } from '../support/builder-client.ts';
import { addStaff, signInToConsole } from '../support/console.ts';
import { operations } from '../support/definition.ts';
import { type Service, startService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';
import { OperationCalls } from '../support/operation-calls.ts';
import { createSamples } from '../support/samples.ts';
import { createToolToken } from '../support/tools.ts';

const METRICS_TOKEN = 'metrics-token-of-a-test';

let service: Service;
/** Lines of the log. */
const lines: string[] = [];

beforeAll(async () => {
  // The logger takes the function when it is created.
  vi.spyOn(process.stdout, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  service = await startService({ LOG_LEVEL: 'trace', METRICS_TOKEN });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await service.stop();
});

/** Values in headers, addresses and bodies that nobody else may learn. */
const SECRETS =
  /Bearer ([\w.-]+)|(?:console|session)-(?:au1|us1)=([\w-]{43})|signature=([\w-]{20,})|"(whsec_[^"]+)"|"(?:access_token|client_secret)":"([^"]+)"|[?&]token=([\w-]+)/g;

/** Runs work, and returns the secrets of all its requests and responses. */
async function collectSecrets(work: () => Promise<unknown>): Promise<Set<string>> {
  const inject = vi.spyOn(service.app, 'inject');
  await work();
  const sent = (inject.mock.calls as unknown[][]).map(([request]) =>
    JSON.stringify({ ...(request as object), payload: '' }),
  );
  const received = (inject.mock.settledResults as { value: LightMyRequestResponse }[]).map(
    ({ value }) => `${JSON.stringify(value.headers)}${value.body}`,
  );
  const found = [...sent, ...received].flatMap((text) => [...text.matchAll(SECRETS)].map((match) => match.slice(1)));
  return new Set(found.flat().filter((text) => text !== undefined));
}

const form = (fields: Record<string, string | Blob>) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
};

it('neither the log at trace nor a table has a credential of any kind of request (OAU-41, OAU-42)', async () => {
  const { app } = service;
  const client = service.findDemoClient('A');
  const user = service.findDemoUser(({ regionId }) => regionId === 'au1');
  const samples = await createSamples(service.databases.au1, client.builderIds[0]!);
  const context = { database: service.databases.au1, clock: service.clock, source: OPERATOR };
  const staff = await addStaff(service, 'ADMIN');
  const secrets = await collectSecrets(async () => {
    const token = await service.tokenOf('A');
    const authorization = `Bearer ${token}`;
    const calls = new OperationCalls(service, samples);
    for (const operation of operations) await calls.rest(operation, token);
    await service.graphql(token, '{ builders { data { id } } }');
    const builder = new BuilderClient(service, token, client.builderIds[0]!);
    await builder.download((await builder.createPhoto()).imageUrl);
    const file = new Blob([Buffer.from(await createPicture())], { type: 'image/jpeg' });
    for (const [path, name] of [
      ['attachments/upload', 'file'],
      ['attachments/bulk-upload', 'file:0'],
    ]) {
      const { headers, body } = new Request('http://api', {
        method: 'POST',
        body: form({ type: 'attachment', [name!]: file }),
      });
      const payload = Buffer.from(await new Response(body).arrayBuffer());
      const url = `/builders/${builder.builderId}/${path}`;
      const sent = {
        authorization,
        'content-type': headers.get('content-type')!,
        'x-other': 'a-value-of-a-header',
      };
      await app.inject({ method: 'POST', url, headers: sent, payload });
    }
    // Credentials that a client has put into a path, which exists or not.
    for (const secret of [token, client.clientSecret!, `whsec_${'+/aA'.repeat(8)}`]) {
      for (const path of [`/x/${secret}`, `/builders/${secret}/projects`, `/${encodeURIComponent(secret)}`]) {
        await app.inject({ url: path, headers: { authorization } });
      }
    }
    await app.inject({ url: '/x/https://user:a-password-in-a-url@host/' });
    await app.inject({ url: `/x/${encodeURIComponent('http://u:a-pass-in-a-url@h')}` });
    for (const [url, payload] of [
      ['/nowhere?token=a-token-in-a-query', '{}'],
      ['/graphql?token=a-token-in-a-query', '{"query":'],
      [
        '/oauth/token',
        JSON.stringify({
          client_id: client.clientId,
          client_secret: client.clientSecret,
          grant_type: 'client_credentials',
          audience: 'http://localhost:4000',
          scope: 'read:builders',
        }),
      ],
      ['/oauth/token', JSON.stringify({ client_secret: 'x'.repeat(2_000_000) })],
    ] as const) {
      const headers = { authorization, cookie: `session-au1=${'c'.repeat(43)}`, 'content-type': 'application/json' };
      await app.inject({ method: 'POST', url, headers, payload });
    }
    for (const url of ['/metrics', '/health/ready', '/openapi.json', '/docs/', '/console/', '/schema.graphql']) {
      await app.inject({ url, headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
    }
    const { path } = await resetPassword(context, user.id, false);
    const page = new Browser(app);
    await page.submit(await page.send('GET', path), 'Save the password', { password: PASSWORD, repeated: PASSWORD });
    await page.signIn(await page.send('GET', '/account/applications'), user.email);
    await page.send('GET', `/reports/${samples.PhotoReportId}`);
    await (await signInToConsole(app, staff)).query('{ me { email } people { data { email } } }');
  });
  const log = lines.join('');
  expect(log).toContain('busboyOptions');
  expect(log).toContain('"path":"/x/[redacted]"');
  expect(log).not.toMatch(/whsec_|\/aA\+|a-pass(?:word)?-in-a-url|a-value-of-a-header/);
  expect(log).toContain('"path":"/console/graphql"');
  expect(secrets.size).toBeGreaterThan(10);
  for (const secret of [...secrets, client.clientSecret!, PASSWORD]) expect(log).not.toContain(secret);
  expect(log).not.toMatch(/Bearer|[?&]\w+=/);
  // Nor has any row of a table (OAU-41).
  const stored = (await Promise.all(REGIONS.map((region) => readAllRows(service.databases[region])))).join('\n');
  expect(stored).toContain(samples.PhotoReportId);
  for (const secret of [...secrets, client.clientSecret!, PASSWORD]) expect(stored).not.toContain(secret);
});

it('the log has no header of a request to the tools for agents', async () => {
  const authorization = `Bearer ${await createToolToken(service, 'A')}`;
  const accept = 'application/json, text/event-stream';
  const headers = { authorization, accept, 'mcp-protocol-version': 'value-of-a-header' };
  lines.length = 0;
  const payload = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  await service.request({ method: 'POST', url: '/mcp', headers, payload });
  expect(lines.join('')).toContain('MCP request failed');
  expect(lines.join('')).not.toContain('value-of-a-header');
});

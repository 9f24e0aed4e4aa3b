import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { obtainCode } from './code-flow.ts';
import { type Instance, startDeployment, type TestDeployment } from './deployment.ts';
import { addApplication, addBuilder, addUser, REDIRECT_URI, VERIFIER } from './fixtures.ts';
import { addClient } from './service.ts';

/** Requests per window, per address and per client. */
const LIMIT = 20;

let deployment: TestDeployment;
let instance: Instance;
let addresses = 0;

beforeAll(async () => {
  deployment = await startDeployment({ RATE_LIMIT_TOKEN: `${LIMIT}/60` });
  instance = await deployment.startInstance();
  await addBuilder(deployment, 'buil_a');
  await addUser(deployment, 'user_a', ['buil_a']);
});
afterAll(() => deployment?.close());

/** Returns an unused address. */
const newAddress = () => `2001:db8:${(++addresses).toString(16)}::1`;

const post = (path: string, fields: Record<string, string>, remoteAddress = newAddress()) =>
  instance.app.inject({ method: 'POST', url: `/oauth/${path}`, remoteAddress, payload: fields });

const exchange = (client_id: string, code: string, changes: Record<string, string> = {}, address?: string) =>
  post(
    'token',
    {
      ...{ grant_type: 'authorization_code', client_id, code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
      ...changes,
    },
    address,
  );

const refresh = (client_id: string, refresh_token: string, address?: string) =>
  post('token', { grant_type: 'refresh_token', client_id, refresh_token }, address);

const obtainCodeOf = (clientId: string) => obtainCode(instance, { clientId, email: 'user_a@example.com' });

async function refreshTokenOf(clientId: string): Promise<string> {
  return (await exchange(clientId, await obtainCodeOf(clientId))).json().refresh_token;
}

const repeat = async (count: number, work: () => Promise<{ statusCode: number }>) => {
  const statuses = new Set<number>();
  for (let done = 0; done < count; done++) statuses.add((await work()).statusCode);
  return [...statuses];
};

/** Refreshes until the response is 429 and returns the refresh token of that request. */
async function useUpLimit(clientId: string): Promise<string> {
  let token = await refreshTokenOf(clientId);
  for (let sent = 0; sent <= LIMIT; sent++) {
    const response = await refresh(clientId, token);
    if (response.statusCode === 429) return token;
    token = response.json().refresh_token;
  }
  throw new Error('The rate limit was never reached.');
}

const nextWindow = () => {
  deployment.clock.at += 60_000;
};

describe("a public client's rate limit", () => {
  test('is not charged by requests that only send the client_id, from one address or many (LIM-4)', async () => {
    await addApplication(deployment, 'cli_named');
    const code = await obtainCodeOf('cli_named');
    const attacker = newAddress();
    expect(await repeat(LIMIT, () => refresh('cli_named', newSecret(), attacker))).toEqual([400]);
    expect((await refresh('cli_named', newSecret(), attacker)).statusCode).toBe(429);
    expect(await repeat(2 * LIMIT, () => refresh('cli_named', newSecret()))).toEqual([400]);
    expect(await repeat(LIMIT, () => exchange('cli_named', newSecret()))).toEqual([400]);
    expect(await repeat(LIMIT, () => post('revoke', { client_id: 'cli_named', token: newSecret() }))).toEqual([200]);
    expect(await repeat(LIMIT, () => post('introspect', { client_id: 'cli_named', token: newSecret() }))).toEqual([
      401,
    ]);
    expect((await exchange('cli_named', code)).statusCode).toBe(200);
  });

  test("is not charged by another client's tokens, a wrong verifier, or revoked tokens", async () => {
    await addApplication(deployment, 'cli_victim');
    await addApplication(deployment, 'cli_other');
    const foreignToken = await refreshTokenOf('cli_other');
    const code = await obtainCodeOf('cli_victim');
    const wrong = { code_verifier: VERIFIER.replace('a', 'b') };
    const revoked = (await exchange('cli_victim', await obtainCodeOf('cli_victim'))).json();
    for (const token of [revoked.access_token, revoked.refresh_token]) {
      expect((await post('revoke', { client_id: 'cli_victim', token })).statusCode).toBe(200);
    }
    expect(await repeat(LIMIT, () => refresh('cli_victim', foreignToken))).toEqual([400]);
    expect(await repeat(LIMIT, () => refresh('cli_victim', revoked.refresh_token))).toEqual([400]);
    expect(await repeat(LIMIT, () => exchange('cli_victim', code, wrong))).toEqual([400]);
    for (const token of [foreignToken, revoked.access_token, revoked.refresh_token]) {
      expect(await repeat(LIMIT, () => post('revoke', { client_id: 'cli_victim', token }))).toEqual([200]);
    }
    expect((await exchange('cli_victim', code)).statusCode).toBe(200);
  });

  test('applies to all addresses, and a 429 consumes neither refresh token nor code (LIM-4)', async () => {
    await addApplication(deployment, 'cli_busy');
    const code = await obtainCodeOf('cli_busy');
    const rejectedToken = await useUpLimit('cli_busy');
    const response = await exchange('cli_busy', code);
    expect([response.statusCode, response.headers['x-ratelimit-remaining']]).toEqual([429, '0']);
    nextWindow();
    expect((await exchange('cli_busy', code)).statusCode).toBe(200);
    expect((await refresh('cli_busy', rejectedToken)).statusCode).toBe(200);
  });

  test('applies to revocations of valid tokens, which stay valid after a 429', async () => {
    await addApplication(deployment, 'cli_leaving');
    const rejectedToken = await useUpLimit('cli_leaving');
    expect((await post('revoke', { client_id: 'cli_leaving', token: rejectedToken })).statusCode).toBe(429);
    nextWindow();
    expect((await refresh('cli_leaving', rejectedToken)).statusCode).toBe(200);
  });
});

describe("a confidential client's rate limit", () => {
  test('is charged only by requests with its secret, even when they are otherwise invalid (LIM-4)', async () => {
    const secret = newSecret();
    await addClient(deployment, 'cli_server', { secrets: [secret] });
    const sendRequest = (client_secret: string) =>
      post('token', { grant_type: 'client_credentials', client_id: 'cli_server', client_secret });
    expect(await repeat(2 * LIMIT, () => sendRequest('wrong'))).toEqual([401]);
    expect(await repeat(LIMIT, () => sendRequest(secret))).toEqual([400]);
    expect((await sendRequest(secret)).statusCode).toBe(429);
  });
});

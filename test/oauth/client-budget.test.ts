import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { codeFor } from './flow.ts';
import { addApplication, addBuilder, addUser, REDIRECT, VERIFIER } from './people.ts';
import { addClient } from './service.ts';
import { type Instance, startWhole, type Whole } from './whole.ts';

/** Requests of one window, per address and per client. */
const BUDGET = 20;

let whole: Whole;
let instance: Instance;
let addresses = 0;

beforeAll(async () => {
  whole = await startWhole({ RATE_LIMIT_TOKEN: `${BUDGET}/60` });
  instance = await whole.instance();
  await addBuilder(whole, 'buil_a');
  await addUser(whole, 'user_a', ['buil_a']);
});
afterAll(() => whole?.close());

/** An address that has sent nothing yet. */
const newAddress = () => `2001:db8:${(++addresses).toString(16)}::1`;

const post = (path: string, fields: Record<string, string>, remoteAddress = newAddress()) =>
  instance.app.inject({ method: 'POST', url: `/oauth/${path}`, remoteAddress, payload: fields });

const exchange = (client_id: string, code: string, changes: Record<string, string> = {}, address?: string) =>
  post(
    'token',
    {
      ...{ grant_type: 'authorization_code', client_id, code, redirect_uri: REDIRECT, code_verifier: VERIFIER },
      ...changes,
    },
    address,
  );

const refresh = (client_id: string, refresh_token: string, address?: string) =>
  post('token', { grant_type: 'refresh_token', client_id, refresh_token }, address);

const codeOf = (clientId: string) => codeFor(instance, { clientId, email: 'user_a@example.com' });

async function refreshTokenOf(clientId: string): Promise<string> {
  return (await exchange(clientId, await codeOf(clientId))).json().refresh_token;
}

const repeat = async (count: number, work: () => Promise<{ statusCode: number }>) => {
  const statuses = new Set<number>();
  for (let done = 0; done < count; done++) statuses.add((await work()).statusCode);
  return [...statuses];
};

/** Refreshes until the answer is 429; answers the refresh token that was refused. */
async function spendBudget(clientId: string): Promise<string> {
  let token = await refreshTokenOf(clientId);
  for (let sent = 0; sent <= BUDGET; sent++) {
    const answer = await refresh(clientId, token);
    if (answer.statusCode === 429) return token;
    token = answer.json().refresh_token;
  }
  throw new Error('The budget was never spent.');
}

const nextWindow = () => {
  whole.clock.at += 60_000;
};

describe("a public client's budget", () => {
  test('is not spent by requests that only name the client, from one address or from many (LIM-4)', async () => {
    await addApplication(whole, 'cli_named');
    const code = await codeOf('cli_named');
    const attacker = newAddress();
    expect(await repeat(BUDGET, () => refresh('cli_named', newSecret(), attacker))).toEqual([400]);
    expect((await refresh('cli_named', newSecret(), attacker)).statusCode).toBe(429);
    expect(await repeat(2 * BUDGET, () => refresh('cli_named', newSecret()))).toEqual([400]);
    expect(await repeat(BUDGET, () => exchange('cli_named', newSecret()))).toEqual([400]);
    expect(await repeat(BUDGET, () => post('revoke', { client_id: 'cli_named', token: newSecret() }))).toEqual([200]);
    expect(await repeat(BUDGET, () => post('introspect', { client_id: 'cli_named', token: newSecret() }))).toEqual([
      401,
    ]);
    expect((await exchange('cli_named', code)).statusCode).toBe(200);
  });

  test("is not spent by another client's tokens, a wrong verifier, or tokens that have ended", async () => {
    await addApplication(whole, 'cli_victim');
    await addApplication(whole, 'cli_other');
    const foreign = await refreshTokenOf('cli_other');
    const code = await codeOf('cli_victim');
    const wrong = { code_verifier: VERIFIER.replace('a', 'b') };
    const ended = (await exchange('cli_victim', await codeOf('cli_victim'))).json();
    for (const token of [ended.access_token, ended.refresh_token]) {
      expect((await post('revoke', { client_id: 'cli_victim', token })).statusCode).toBe(200);
    }
    expect(await repeat(BUDGET, () => refresh('cli_victim', foreign))).toEqual([400]);
    expect(await repeat(BUDGET, () => refresh('cli_victim', ended.refresh_token))).toEqual([400]);
    expect(await repeat(BUDGET, () => exchange('cli_victim', code, wrong))).toEqual([400]);
    for (const token of [foreign, ended.access_token, ended.refresh_token]) {
      expect(await repeat(BUDGET, () => post('revoke', { client_id: 'cli_victim', token }))).toEqual([200]);
    }
    expect((await exchange('cli_victim', code)).statusCode).toBe(200);
  });

  test('limits its own users wherever they are, and a refusal uses up neither refresh token nor code (LIM-4)', async () => {
    await addApplication(whole, 'cli_busy');
    const code = await codeOf('cli_busy');
    const refused = await spendBudget('cli_busy');
    const answer = await exchange('cli_busy', code);
    expect([answer.statusCode, answer.headers['x-ratelimit-remaining']]).toEqual([429, '0']);
    nextWindow();
    expect((await exchange('cli_busy', code)).statusCode).toBe(200);
    expect((await refresh('cli_busy', refused)).statusCode).toBe(200);
  });

  test('also limits revocations of tokens that are live, which stay live when they are refused', async () => {
    await addApplication(whole, 'cli_leaving');
    const refused = await spendBudget('cli_leaving');
    expect((await post('revoke', { client_id: 'cli_leaving', token: refused })).statusCode).toBe(429);
    nextWindow();
    expect((await refresh('cli_leaving', refused)).statusCode).toBe(200);
  });
});

describe("a confidential client's budget", () => {
  test('is spent by requests with its secret alone, whatever else is wrong with them (LIM-4)', async () => {
    const secret = newSecret();
    await addClient(whole, 'cli_server', { secrets: [secret] });
    const ask = (client_secret: string) =>
      post('token', { grant_type: 'client_credentials', client_id: 'cli_server', client_secret });
    expect(await repeat(2 * BUDGET, () => ask('wrong'))).toEqual([401]);
    expect(await repeat(BUDGET, () => ask(secret))).toEqual([400]);
    expect((await ask(secret)).statusCode).toBe(429);
  });
});

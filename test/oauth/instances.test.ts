import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { addMembership, removeMembership } from '../../src/cli/services/memberships.ts';
import { Database } from '../../src/database/database.ts';
import { codeFor, exchange, refresh, type Tokens, tokensFor } from './flow.ts';
import { addApplication, addBuilder, addUser, REDIRECT } from './people.ts';
import { type Instance, startWhole, type Whole } from './whole.ts';

/** Two instances of the whole service, with connections of their own to the same databases. */
let whole: Whole;
let one: Instance;
let other: Instance;
let tokens: Tokens;

const LOCK_CLIENTS = { name: 'test.lock', text: 'lock table oauth_client in access exclusive mode' };
const WAITING = {
  name: 'test.waiting',
  text: `select count(*) from pg_locks where not granted and relation = 'oauth_client'::regclass`,
};

const person = { clientId: 'cli_app', email: 'user_a@example.com' };

beforeAll(async () => {
  whole = await startWhole();
  [one, other] = [await whole.instance(), await whole.instance()];
  await addBuilder(whole, 'buil_a');
  await addUser(whole, 'user_a', ['buil_a']);
  await addApplication(whole, 'cli_app');
});
beforeEach(async () => {
  tokens = await tokensFor(one, person);
});
afterAll(() => whole?.close());

async function me({ app }: Instance, token = tokens.access_token) {
  const response = await app.inject({ url: '/me', headers: { authorization: `Bearer ${token}` } });
  return { status: response.statusCode, body: response.json() };
}

const revoke = ({ app }: Instance, token: string) =>
  app.inject({ method: 'POST', url: '/oauth/revoke', payload: { client_id: 'cli_app', token } });

/** Statements that the instance sends to the database for the work. */
async function statements(instance: Instance, work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const end = instance.databases.au1.onStatement(({ name }) => names.push(name));
  await work();
  end();
  return names;
}

const later = (milliseconds: number) => {
  whole.clock.at += milliseconds;
};

describe('GET /me', () => {
  test('works with a token of the code flow: the person and the one builder', async () => {
    expect(await me(one)).toEqual({
      status: 200,
      body: {
        ...{ type: 'user', id: 'user_a', name: 'Person user_a', email: 'user_a@example.com', profilePictureUrl: null },
        ...{ clientId: 'cli_app', scopes: ['read:builders', 'read:projects'], regionId: 'au1' },
        memberships: [
          { builderId: 'buil_a', builderName: 'Company buil_a', builderLogoUrl: null, role: 'SITE_MANAGER' },
        ],
      },
    });
  });

  test('reaches the builder of the token through REST, within its scopes (ACC-4)', async () => {
    const get = (url: string) => one.app.inject({ url, headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect((await get('/builders')).json().data.map(({ id }: { id: string }) => id)).toEqual(['buil_a']);
    expect((await get('/builders/buil_a/meetings')).statusCode).toBe(403);
  });
});

describe('a revoked token (ACC-5)', () => {
  test('stops at once where it was revoked, and within a second on the other instance', async () => {
    expect([(await me(one)).status, (await me(other)).status]).toEqual([200, 200]);
    expect((await revoke(one, tokens.access_token)).statusCode).toBe(200);
    expect((await me(one)).status).toBe(401);
    // What the other remembers is good for half a second, by the clock.
    later(499);
    expect((await me(other)).status).toBe(200);
    later(1);
    expect((await me(other)).status).toBe(401);
  });

  test('stops with its whole family, in the same time', async () => {
    const renewed = (await refresh(one, person, tokens.refresh_token)).body;
    for (const token of [tokens.access_token, renewed.access_token]) expect((await me(other, token)).status).toBe(200);
    await revoke(one, renewed.refresh_token);
    for (const token of [tokens.access_token, renewed.access_token]) expect((await me(one, token)).status).toBe(401);
    later(500);
    for (const token of [tokens.access_token, renewed.access_token]) expect((await me(other, token)).status).toBe(401);
  });

  test('stops when the code is used a second time on another instance', async () => {
    const code = await codeFor(one, person);
    const { access_token } = (await exchange(one, person, code)).body;
    expect([(await me(one, access_token)).status, (await me(other, access_token)).status]).toEqual([200, 200]);
    expect((await exchange(other, person, code)).body.error).toBe('invalid_grant');
    expect((await me(other, access_token)).status).toBe(401);
    later(500);
    expect((await me(one, access_token)).status).toBe(401);
  });

  test('stops with the membership, and stays so when the user is made a member again (OAU-35)', async () => {
    const place = { database: whole.databases.au1, clock: whole.clock };
    const key = { user: 'user_a', builderId: 'buil_a' };
    await removeMembership(place, key);
    await addMembership(place, { ...key, role: 'SITE_MANAGER' });
    later(500);
    expect([(await me(one)).status, (await me(other)).status]).toEqual([401, 401]);
    const { status, body } = await refresh(one, person, tokens.refresh_token);
    expect([status, body.error]).toEqual([400, 'invalid_grant']);
    expect((await me(one, (await tokensFor(one, person)).access_token)).status).toBe(200);
  });

  test('does not come back', async () => {
    await revoke(one, tokens.access_token);
    for (let minute = 0; minute < 59; minute += 10) {
      later(600_000);
      expect([(await me(one)).status, (await me(other)).status]).toEqual([401, 401]);
    }
  });
});

describe('a region that hangs', () => {
  test('keeps no client of the other waiting that names no region', async () => {
    const { writer, runner } = whole.databases.us1;
    await writer.run(async (transaction) => {
      await transaction.query([LOCK_CLIENTS, []]);
      expect((await refresh(one, person, tokens.refresh_token)).status).toBe(200);
      // The look into that region is still on.
      expect(await runner.run(WAITING, [])).toEqual([['1']]);
    });
  });
});

describe('a token that holds', () => {
  test('costs no round trip per request: one statement in half a second, however many requests', async () => {
    later(1000);
    const asked = await statements(other, async () => {
      for (let count = 0; count < 50; count++) expect((await me(other)).status).toBe(200);
    });
    expect(asked.filter((name) => name === 'access.facts')).toHaveLength(1);
  });

  test('is refused with 503, never let through, while the database cannot be asked (ACC-5)', async () => {
    const databases = { au1: new Database('au1', whole.databases.au1.url), us1: whole.databases.us1 };
    const cut = await whole.instance({ databases });
    expect((await me(cut)).status).toBe(200);
    const run = databases.au1.runner.run.bind(databases.au1.runner);
    databases.au1.runner.run = () => Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }));
    // A token that was never seen, and one that was, half a second ago.
    const { access_token } = await tokensFor(one, person);
    expect((await me(cut, access_token)).status).toBe(503);
    later(500);
    expect((await me(cut)).status).toBe(503);
    databases.au1.runner.run = run;
    expect((await me(cut)).status).toBe(200);
    await databases.au1.close();
  });

  test('ends with the connection, within a second on both (ACC-5)', async () => {
    expect([(await me(one)).status, (await me(other)).status]).toEqual([200, 200]);
    const em = whole.databases.au1.fork();
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'REVOKED' });
    later(500);
    const ended = [(await me(one)).status, (await me(other)).status];
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'ACTIVE' });
    expect(ended).toEqual([401, 401]);
    later(500);
  });

  test('does not hold in the other region, nor 61 minutes later (HDR-8)', async () => {
    const headers = { authorization: `Bearer ${tokens.access_token}`, 'x-service-region-id': 'us1' };
    expect((await one.app.inject({ url: '/me', headers })).statusCode).toBe(401);
    later(61 * 60_000);
    expect((await me(one)).status).toBe(401);
  });
});

describe('two instances at once', () => {
  const both = <T>(work: (instance: Instance) => Promise<T>) =>
    Promise.all(Array.from({ length: 16 }, (_, index) => work(index % 2 ? one : other)));

  test('give tokens for a code once', async () => {
    for (let round = 0; round < 3; round++) {
      const code = await codeFor(one, person);
      const answers = await both((instance) => exchange(instance, person, code));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const winner = answers.find(({ status }) => status === 200)!.body;
      // The others were second uses, so what the first gave is over.
      expect((await refresh(one, person, winner.refresh_token)).body.error).toBe('invalid_grant');
    }
  });

  test('rotate a refresh token once, and what it gave lives', async () => {
    for (let round = 0; round < 3; round++) {
      const { refresh_token } = await tokensFor(one, person);
      const answers = await both((instance) => refresh(instance, person, refresh_token));
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners).toHaveLength(1);
      expect((await me(one, winners[0]!.body.access_token)).status).toBe(200);
      expect((await refresh(other, person, winners[0]!.body.refresh_token)).status).toBe(200);
    }
  });

  test('take a code that the other has made', async () => {
    const code = await codeFor(one, person);
    expect((await exchange(other, person, code, { redirect_uri: REDIRECT })).status).toBe(200);
  });
});

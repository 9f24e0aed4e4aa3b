import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type NewClient } from '../../src/cli/services/clients.ts';
import { codeFor, exchange, refresh } from './flow.ts';
import { addBuilder, addUser, REDIRECT } from './people.ts';
import { addClient, BASE_URL, type OAuthService, postToken, startOAuth } from './service.ts';

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
});

afterAll(() => service.close());

/** A confidential client as the operator registers it: its id and secret. */
async function register(changes: Partial<NewClient> = {}) {
  const { clientId, clientSecret } = await createClient(
    { database: service.databases.au1, clock: service.clock },
    {
      ...{ integratorId: 'intg_a', internal: false, name: 'App', type: 'CONFIDENTIAL' },
      ...{ grants: [], scopes: ['read:builders read:projects'], redirectUris: [], origins: [] },
      ...changes,
    },
  );
  return { clientId, email: 'user_a@example.com', secret: clientSecret! };
}

const clientToken = ({ clientId, secret }: { clientId: string; secret: string }) =>
  postToken(service.app, {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: secret },
    ...{ audience: BASE_URL, scope: 'read:builders' },
  });

describe('a confidential client that was registered without --grant', () => {
  it('uses client credentials, the code flow and refresh tokens (OAU-4)', async () => {
    const person = await register({ redirectUris: [REDIRECT] });
    expect((await clientToken(person)).status).toBe(200);
    const tokens = await exchange(service, person, await codeFor(service, person));
    expect(tokens.status).toBe(200);
    expect((await refresh(service, person, tokens.body.refresh_token)).status).toBe(200);
  });

  it('cannot start the code flow without a redirect URI (OAU-5)', async () => {
    const person = await register();
    expect((await clientToken(person)).status).toBe(200);
    const query = new URLSearchParams({ response_type: 'code', client_id: person.clientId, redirect_uri: REDIRECT });
    const answer = await service.app.inject({ method: 'GET', url: `/oauth/authorize?${query}` });
    expect([answer.statusCode, answer.headers.location]).toEqual([400, undefined]);
  });
});

describe('a confidential client that was registered with --grant', () => {
  it('uses the grants that were named alone (400 unauthorized_client)', async () => {
    const person = await register({ grants: ['authorization_code'], redirectUris: [REDIRECT] });
    const refused = await clientToken(person);
    expect([refused.status, refused.body.error]).toEqual([400, 'unauthorized_client']);
    const tokens = await exchange(service, person, await codeFor(service, person));
    expect([tokens.status, tokens.body.refresh_token]).toEqual([200, undefined]);
  });

  it('keeps the grants that an earlier release registered it for (OAU-4)', async () => {
    await addClient(service, 'cli_earlier', { secrets: ['secret'], grants: ['client_credentials'] });
    expect((await clientToken({ clientId: 'cli_earlier', secret: 'secret' })).status).toBe(200);
    const refused = await refresh(service, { clientId: 'cli_earlier', secret: 'secret' }, 'unknown');
    expect([refused.status, refused.body.error]).toEqual([400, 'unauthorized_client']);
  });
});

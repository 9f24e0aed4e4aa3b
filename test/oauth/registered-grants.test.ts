import { beforeAll, describe, expect, it } from 'vitest';
import { type NewClient } from '../../src/domain/access/client-rules.ts';
import { createClient } from '../../src/domain/access/clients.ts';
import { OPERATOR } from '../support/audit.ts';
import { exchangeCode, obtainCode, refreshTokens } from './code-flow.ts';
import { addBuilder, addUser, REDIRECT_URI } from './fixtures.ts';
import { addClient, BASE_URL, postToken, useOAuth } from './service.ts';

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  await addUser(service, 'user_a', ['buil_a']);
});

/** Registers a confidential client as the command does, and returns the flow of its user. */
async function register(changes: Partial<NewClient> = {}) {
  const { clientId, clientSecret } = await createClient(
    { database: service.databases.au1, clock: service.clock, source: OPERATOR },
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
  it('can use client credentials, authorization codes and refresh tokens (OAU-4)', async () => {
    const flow = await register({ redirectUris: [REDIRECT_URI] });
    expect((await clientToken(flow)).status).toBe(200);
    const tokens = await exchangeCode(service, flow, await obtainCode(service, flow));
    expect(tokens.status).toBe(200);
    expect((await refreshTokens(service, flow, tokens.body.refresh_token)).status).toBe(200);
  });

  it('cannot start the code flow without a redirect URI (OAU-5)', async () => {
    const flow = await register();
    expect((await clientToken(flow)).status).toBe(200);
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: flow.clientId,
      redirect_uri: REDIRECT_URI,
    });
    const response = await service.app.inject({ method: 'GET', url: `/oauth/authorize?${query}` });
    expect([response.statusCode, response.headers.location]).toEqual([400, undefined]);
  });
});

describe('a confidential client that was registered with --grant', () => {
  it('can use only those grants (400 unauthorized_client) (OAU-4)', async () => {
    const flow = await register({ grants: ['authorization_code'], redirectUris: [REDIRECT_URI] });
    const rejected = await clientToken(flow);
    expect([rejected.status, rejected.body.error]).toEqual([400, 'unauthorized_client']);
    const tokens = await exchangeCode(service, flow, await obtainCode(service, flow));
    expect([tokens.status, tokens.body.refresh_token]).toEqual([200, undefined]);
  });

  it('keeps the grants that an earlier release registered (OAU-4)', async () => {
    await addClient(service, 'cli_earlier', { secrets: ['secret'], grants: ['client_credentials'] });
    expect((await clientToken({ clientId: 'cli_earlier', secret: 'secret' })).status).toBe(200);
    const rejected = await refreshTokens(service, { clientId: 'cli_earlier', secret: 'secret' }, 'unknown');
    expect([rejected.status, rejected.body.error]).toEqual([400, 'unauthorized_client']);
  });
});

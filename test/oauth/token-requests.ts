import { expect } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { addClient, BASE_URL, OAUTH_START, type OAuthService, type postToken, startOAuth } from './service.ts';

export const CLIENT = 'cli_a';
export const secret = newSecret();
export const usSecret = newSecret();
const DESCRIPTION = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/;

type TokenEndpointResponse = Awaited<ReturnType<typeof postToken>>;

/** Starts the OAuth service with clients of every kind that the token endpoint distinguishes. */
export async function startTokenService(): Promise<OAuthService> {
  const service = await startOAuth();
  await addClient(service, CLIENT, { secrets: [secret] });
  await addClient(service, 'cli_few', { secrets: [secret], scopes: ['read:builders', 'read:projects'] });
  await addClient(service, 'cli_internal', {
    secrets: [secret],
    internal: true,
    integratorId: null,
    scopes: ['read:attendance'],
  });
  await addClient(service, 'cli_people', { secrets: [secret], grants: ['authorization_code', 'refresh_token'] });
  await addClient(service, 'cli_both', { secrets: [secret], grants: ['client_credentials', 'authorization_code'] });
  await addClient(service, 'cli_public', { type: 'PUBLIC', grants: ['authorization_code', 'refresh_token'] });
  await addClient(service, 'cli_bare');
  await addClient(service, 'cli_off', { secrets: [secret], disabledAt: new Date(OAUTH_START).toISOString() });
  await addClient(service, 'cli_us', { secrets: [usSecret], region: 'us1' });
  return service;
}

/** Fields of a valid client credentials request, with the changes applied. */
export const tokenRequest = (changes: Record<string, unknown> = {}) => ({
  grant_type: 'client_credentials',
  client_id: CLIENT,
  client_secret: secret,
  audience: BASE_URL,
  scope: 'read:builders',
  ...changes,
});

/** The same as form-encoded text; undefined omits a field. */
export const tokenForm = (changes: Record<string, unknown> = {}) => {
  const fields = Object.entries(tokenRequest(changes)).filter(([, value]) => value !== undefined);
  return new URLSearchParams(fields as [string, string][]).toString();
};

export const withoutCredentials = { client_id: undefined, client_secret: undefined };

/** Expects this error in the format of RFC 6749 section 5.2, without caching. */
export function expectError(response: TokenEndpointResponse, status: number, error: string, description?: RegExp) {
  expect(response.body).toEqual({ error, error_description: expect.stringMatching(DESCRIPTION) });
  if (description) expect(response.body.error_description).toMatch(description);
  expect(response.status).toBe(status);
  expectNoStore(response);
}

/** Expects an HTTP-level error, which also has the `code` and `message` of other operations. */
export function expectTransportError(response: TokenEndpointResponse, status: number, code: string, text: RegExp) {
  const described = { error_description: expect.stringMatching(DESCRIPTION), message: expect.stringMatching(text) };
  expect(response.body).toEqual({ error: 'invalid_request', code, ...described });
  expect(response.status).toBe(status);
  expectNoStore(response);
}

/** Expects headers that forbid caching. */
export function expectNoStore({ headers }: { headers: Record<string, unknown> }) {
  expect(headers['cache-control']).toBe('no-store');
  expect(headers.pragma).toBe('no-cache');
}

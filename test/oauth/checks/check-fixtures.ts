import { expect } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import type { ConnectedMembership } from '../../../src/oauth/builder-memberships.ts';
import type { RegisteredClient } from '../../../src/oauth/clients.ts';
import { OAuthError } from '../../../src/oauth/errors.ts';

/** A public client with the authorization code grant and the scopes `read:builders` and `read:projects`. */
export const aClient = (changes: Partial<RegisteredClient> = {}): RegisteredClient => ({
  ...{ id: 'cli_a', name: 'Site Sync', integratorId: 'intg_a', integratorName: 'Sync Pty Ltd', type: 'PUBLIC' },
  ...{ grants: ['authorization_code'], scopes: ['read:builders', 'read:projects'], digests: [] },
  redirectUris: ['https://app.example/callback'],
  database: null as unknown as Database,
  ...changes,
});

export const aMembership = (changes: Partial<ConnectedMembership> = {}): ConnectedMembership => ({
  ...{ builderId: 'buil_a', builderName: 'Harbour', logoKey: null, role: 'ADMIN', allowedScopes: ['read:builders'] },
  ...changes,
});

/** Returns the code of the `OAuthError` that the function throws; null when it throws nothing. */
export function errorOf(check: () => unknown): string | null {
  try {
    check();
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(OAuthError);
    return (error as OAuthError).code;
  }
}

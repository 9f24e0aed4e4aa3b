import { expect } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import type { ConnectedChoice } from '../../../src/oauth/checks/builder-choice.ts';
import type { RegisteredClient } from '../../../src/oauth/clients.ts';
import { OAuthError } from '../../../src/oauth/errors.ts';

/** A client that is allowed a little. */
export const clientOf = (changes: Partial<RegisteredClient> = {}): RegisteredClient => ({
  ...{ id: 'cli_a', name: 'Site Sync', integratorId: 'intg_a', integratorName: 'Sync Pty Ltd', type: 'PUBLIC' },
  ...{ grants: ['authorization_code'], scopes: ['read:builders', 'read:projects'], digests: [] },
  redirectUris: ['https://app.example/callback'],
  database: null as unknown as Database,
  ...changes,
});

export const choiceOf = (changes: Partial<ConnectedChoice> = {}): ConnectedChoice => ({
  ...{ id: 'buil_a', name: 'Harbour', logoKey: null, role: 'ADMIN', allowed: ['read:builders'] },
  ...changes,
});

/** The code of the OAuth error that the work throws; null when it throws none. */
export function errorOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(OAuthError);
    return (error as OAuthError).code;
  }
}

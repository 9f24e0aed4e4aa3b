import { argon2Sync, createHash } from 'node:crypto';
import { Builder } from '../../entities/builder.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import type { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import type { RegionId } from '../../src/shared/regions.ts';
import { addClient, OAUTH_START, timestamps, type WithDatabases } from './service.ts';

export const REDIRECT_URI = 'https://app.example/callback';
export const PASSWORD = 'correct horse battery';

const createdAtStart = timestamps(OAUTH_START);

/** Hash of `PASSWORD` with the lowest cost of argon2id, which keeps the tests fast. */
export const CHEAP_HASH = createCheapHash(PASSWORD);

export function createCheapHash(password: string): string {
  const salt = Buffer.alloc(16, 1);
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
  const tag = argon2Sync('argon2id', { message: password, nonce: salt, ...cost });
  const [saltText, tagText] = [salt, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${saltText}$${tagText}`;
}

/** Adds a builder. `allows` lists the scopes of its connection to `intg_a`; null adds no connection. */
export async function addBuilder(
  { databases }: WithDatabases,
  id: string,
  options: {
    region?: RegionId;
    name?: string;
    logoKey?: string;
    allows?: readonly string[] | null;
  } = {},
): Promise<void> {
  const { region = 'au1', name = `Company ${id}`, logoKey = null, allows = SCOPES } = options;
  const em = databases[region].fork();
  await em.insert(Builder, { ...createdAtStart, id, name, logoKey });
  if (allows === null) return;
  const connection = { integratorId: 'intg_a', builderId: id, status: 'ACTIVE' as const, scopes: [...allows] };
  await em.insert(Connection, { ...createdAtStart, ...connection });
}

/** Adds a user with the password `PASSWORD` and memberships in these builders. */
export async function addUser(
  { databases }: WithDatabases,
  id: string,
  builderIds: readonly string[],
  options: Partial<User> & { region?: RegionId } = {},
): Promise<void> {
  const { region = 'au1', ...overrides } = options;
  const em = databases[region].fork();
  await em.insert(User, {
    ...createdAtStart,
    ...{ id, name: `Person ${id}`, email: `${id}@example.com`, passwordHash: CHEAP_HASH },
    ...{ pictureKey: null, disabledAt: null },
    ...overrides,
  });
  const memberships = builderIds.map((builderId) => ({
    ...createdAtStart,
    userId: id,
    builderId,
    role: 'SITE_MANAGER',
  }));
  if (memberships.length > 0) await em.insertMany(Membership, memberships);
}

/** Adds a client of the authorization code grant, public by default. */
export const addApplication = (
  service: WithDatabases,
  id: string,
  options: Partial<OAuthClient> & { region?: RegionId; secrets?: string[] } = {},
) =>
  addClient(service, id, {
    ...{ type: 'PUBLIC', grants: ['authorization_code', 'refresh_token'], redirectUris: [REDIRECT_URI] },
    ...options,
  });

export const VERIFIER = 'a-verifier.of_43~characters-or-more-0123456789';
export const s256ChallengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** Parameters of a valid authorization request, with the changes applied; undefined removes a parameter. */
export const authorizationParameters = (clientId: string, changes: Record<string, string | undefined> = {}) => ({
  ...{ response_type: 'code', client_id: clientId, redirect_uri: REDIRECT_URI, scope: 'read:builders read:projects' },
  ...{ state: 'a state & more', code_challenge: s256ChallengeOf(VERIFIER), code_challenge_method: 'S256' },
  ...changes,
});

export const toQuery = (parameters: Record<string, string | undefined>) =>
  new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();

/** Query parameters of a redirect to the client. */
export const responseParametersOf = (location: string) => Object.fromEntries(new URL(location).searchParams);

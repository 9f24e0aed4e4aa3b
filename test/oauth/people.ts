import { argon2Sync, createHash } from 'node:crypto';
import { Builder } from '../../entities/builder.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import type { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import type { RegionId } from '../../src/shared/regions.ts';
import { addClient, type Place, START } from './service.ts';

export const REDIRECT = 'https://app.example/callback';
export const PASSWORD = 'correct horse battery';

const stamps = { createdAt: new Date(START).toISOString(), updatedAt: new Date(START).toISOString() };

/** As cheap as argon2id can be: what is tested is not how long that takes. */
export const CHEAP_HASH = cheapHashOf(PASSWORD);

function cheapHashOf(password: string): string {
  const salt = Buffer.alloc(16, 1);
  const cost = { memory: 8, passes: 1, parallelism: 1, tagLength: 32 };
  const tag = argon2Sync('argon2id', { message: password, nonce: salt, ...cost });
  const [saltText, tagText] = [salt, tag].map((bytes) => bytes.toString('base64').replace(/=+$/, ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${saltText}$${tagText}`;
}

export async function addBuilder(
  { databases }: Place,
  id: string,
  options: {
    region?: RegionId;
    name?: string;
    logoUrl?: string;
    logoKey?: string;
    allows?: readonly string[] | null;
  } = {},
): Promise<void> {
  const { region = 'au1', name = `Company ${id}`, logoUrl = null, logoKey = null, allows = SCOPES } = options;
  const em = databases[region].fork();
  await em.insert(Builder, { ...stamps, id, name, logoUrl, logoKey });
  if (allows === null) return;
  const connection = { integratorId: 'intg_a', builderId: id, status: 'ACTIVE' as const, scopes: [...allows] };
  await em.insert(Connection, { ...stamps, ...connection });
}

/** A user whose password is `PASSWORD`, a member of these builders. */
export async function addUser(
  { databases }: Place,
  id: string,
  builderIds: readonly string[],
  options: Partial<User> & { region?: RegionId } = {},
): Promise<void> {
  const { region = 'au1', ...overrides } = options;
  const em = databases[region].fork();
  await em.insert(User, {
    ...stamps,
    ...{ id, name: `Person ${id}`, email: `${id}@example.com`, passwordHash: CHEAP_HASH },
    ...{ pictureKey: null, disabledAt: null },
    ...overrides,
  });
  const memberships = builderIds.map((builderId) => ({ ...stamps, userId: id, builderId, role: 'SITE_MANAGER' }));
  if (memberships.length > 0) await em.insertMany(Membership, memberships);
}

/** A public client of the code flow, unless told otherwise. */
export const addApplication = (
  service: Place,
  id: string,
  options: Partial<OAuthClient> & { region?: RegionId; secrets?: string[] } = {},
) =>
  addClient(service, id, {
    ...{ type: 'PUBLIC', grants: ['authorization_code', 'refresh_token'], redirectUris: [REDIRECT] },
    ...options,
  });

export const VERIFIER = 'a-verifier.of_43~characters-or-more-0123456789';
export const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** Parameters of an authorization request in which everything holds. */
export const authorization = (clientId: string, changes: Record<string, string | undefined> = {}) => ({
  ...{ response_type: 'code', client_id: clientId, redirect_uri: REDIRECT, scope: 'read:builders read:projects' },
  ...{ state: 'a state & more', code_challenge: challengeOf(VERIFIER), code_challenge_method: 'S256' },
  ...changes,
});

export const queryOf = (parameters: Record<string, string | undefined>) =>
  new URLSearchParams(
    Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();

/** The answer of a redirect to the application. */
export const answerIn = (location: string) => Object.fromEntries(new URL(location).searchParams);

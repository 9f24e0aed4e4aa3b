import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AuthorizationCode, type ChallengeMethod } from '../../../entities/authorization-code.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { digestOf, newSecret } from '../../shared/secrets.ts';
import type { CodeBinding } from '../checks/code-binding.ts';
import type { Family } from './token-families.ts';

/** Lifetime of a code in seconds. OAU-30. */
export const CODE_SECONDS = 600;

/** What a user has consented to. */
export interface Consent extends CodeBinding {
  clientId: string;
  userId: string;
  builderId: string;
  scopes: string[];
}

/** A code as it is stored, with the family that the tokens made of it will belong to. */
export interface StoredCode extends Family, CodeBinding {
  digest: string;
  /** Milliseconds since the epoch. */
  codeExpiresAt: number;
  used: boolean;
}

/** Begins a token family and answers its code. The database keeps a digest alone. */
export async function issueCode(database: Database, consent: Consent, now: number): Promise<string> {
  const { clientId, userId, builderId, scopes, ...binding } = consent;
  const code = newSecret();
  const createdAt = new Date(now).toISOString();
  const expiresAt = new Date(now + CODE_SECONDS * 1000).toISOString();
  await database.transaction(async (em) => {
    const familyId = randomUUID();
    const family = { id: familyId, clientId, userId, builderId, scopes, createdAt, expiresAt, revokedAt: null };
    await em.insert(TokenFamily, family);
    await em.insert(AuthorizationCode, {
      ...{ digest: digestOf(code), familyId, ...binding },
      ...{ createdAt, expiresAt, usedAt: null },
    });
  });
  return code;
}

const CODE: Statement = {
  name: 'oauth.code',
  text: `select family.id, family.client_id, family.user_id, family.builder_id, to_json(family.scopes),
      family.revoked_at is not null, code.redirect_uri, code.code_challenge, code.code_challenge_method,
      extract(epoch from code.expires_at) * 1000, code.used_at is not null
    from oauth_authorization_code code join oauth_token_family family on family.id = code.family_id
    where code.digest = $1`,
};

export async function findCode(database: Database, code: string): Promise<StoredCode | null> {
  const digest = digestOf(code);
  const [row] = await database.runner.run(CODE, [digest]);
  if (!row) return null;
  const [familyId, clientId, userId, builderId, scopes, revoked, redirectUri, challenge, method, expiresAt, used] = row;
  return {
    digest,
    familyId: familyId!,
    clientId: clientId!,
    userId: userId!,
    builderId: builderId!,
    scopes: JSON.parse(scopes!),
    revoked: revoked === 't',
    redirectUri: redirectUri!,
    codeChallenge: challenge!,
    codeChallengeMethod: method as ChallengeMethod,
    codeExpiresAt: Number(expiresAt),
    used: used === 't',
  };
}

/** Uses the code up; false when another request has done so before. */
export async function consumeCode(em: EntityManager, { digest }: StoredCode, now: number): Promise<boolean> {
  const used = await em.nativeUpdate(
    AuthorizationCode,
    { digest, usedAt: null },
    { usedAt: new Date(now).toISOString() },
  );
  return used === 1;
}

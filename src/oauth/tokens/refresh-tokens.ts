import type { EntityManager } from '@mikro-orm/postgresql';
import { RefreshToken } from '../../../entities/refresh-token.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { digestOf, newSecret } from '../../shared/secrets.ts';
import type { Family } from './token-families.ts';

/** Lifetime of a refresh token in seconds: 30 days. OAU-32. */
export const REFRESH_TOKEN_SECONDS = 30 * 24 * 3600;

/** A refresh token as it is stored, with the family that it belongs to. Instants are milliseconds since the epoch. */
export interface StoredRefreshToken extends Family {
  digest: string;
  issuedAt: number;
  tokenExpiresAt: number;
  /** Null until another takes its place. */
  rotatedAt: number | null;
}

/** A new refresh token of the family. The database keeps a digest alone. */
export async function issueRefreshToken(em: EntityManager, familyId: string, now: number): Promise<string> {
  const token = newSecret();
  await em.insert(RefreshToken, {
    digest: digestOf(token),
    familyId,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + REFRESH_TOKEN_SECONDS * 1000).toISOString(),
    rotatedAt: null,
  });
  return token;
}

const REFRESH_TOKEN: Statement = {
  name: 'oauth.refresh-token',
  text: `select family.id, family.client_id, family.user_id, family.builder_id, to_json(family.scopes),
      family.revoked_at is not null, extract(epoch from token.created_at) * 1000,
      extract(epoch from token.expires_at) * 1000, extract(epoch from token.rotated_at) * 1000
    from oauth_refresh_token token join oauth_token_family family on family.id = token.family_id
    where token.digest = $1`,
};

export async function findRefreshToken(database: Database, token: string): Promise<StoredRefreshToken | null> {
  const digest = digestOf(token);
  const [row] = await database.runner.run(REFRESH_TOKEN, [digest]);
  if (!row) return null;
  const [familyId, clientId, userId, builderId, scopes, revoked, issuedAt, expiresAt, rotatedAt] = row;
  return {
    digest,
    familyId: familyId!,
    clientId: clientId!,
    userId: userId!,
    builderId: builderId!,
    scopes: JSON.parse(scopes!),
    revoked: revoked === 't',
    issuedAt: Number(issuedAt),
    tokenExpiresAt: Number(expiresAt),
    rotatedAt: rotatedAt === null || rotatedAt === undefined ? null : Number(rotatedAt),
  };
}

/** Takes the token out of use; false when another request has done so before. */
export async function rotateRefreshToken(
  em: EntityManager,
  { digest }: StoredRefreshToken,
  now: number,
): Promise<boolean> {
  const rotatedAt = new Date(now).toISOString();
  return (await em.nativeUpdate(RefreshToken, { digest, rotatedAt: null }, { rotatedAt })) === 1;
}

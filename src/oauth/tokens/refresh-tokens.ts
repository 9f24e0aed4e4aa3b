import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { RefreshToken } from '../../../entities/refresh-token.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { selectObjects } from '../../database/read/select-objects.ts';
import { REFRESH_TOKEN_DAYS } from '../../domain/retention/retention-rules.ts';
import { hashSecret, newSecret } from '../../shared/secrets.ts';
import { FAMILY_PROPERTIES, type StoredTokenFamily } from './token-families.ts';

/** Lifetime of a refresh token in seconds: 30 days. OAU-32. */
export const REFRESH_TOKEN_SECONDS = REFRESH_TOKEN_DAYS * 24 * 3600;

/** A stored refresh token with its token family. Instants are milliseconds since the epoch. */
interface StoredRefreshToken extends StoredTokenFamily {
  digest: string;
  issuedAt: number;
  tokenExpiresAt: number;
  /** Milliseconds since a new token replaced it, by the database's clock; null until then. */
  rotationAge: number | null;
}

/** Creates a refresh token in the family and returns it. The database stores only its digest. */
export async function issueRefreshToken(em: EntityManager, familyId: string, now: number): Promise<string> {
  const token = newSecret();
  await em.insert(RefreshToken, {
    digest: hashSecret(token),
    familyId,
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + REFRESH_TOKEN_SECONDS * 1000).toISOString(),
    rotatedAt: null,
  });
  return token;
}

const REFRESH_TOKEN: Statement = {
  name: 'oauth.refresh-token',
  text: `select json_build_object(${FAMILY_PROPERTIES}, 'digest', token.digest,
      'issuedAt', extract(epoch from token.created_at) * 1000, 'tokenExpiresAt', extract(epoch from token.expires_at) * 1000,
      'rotationAge', extract(epoch from clock_timestamp() - token.rotated_at) * 1000)
    from oauth_refresh_token token join oauth_token_family family on family.id = token.family_id
    where token.digest = $1`,
};

/** Returns the token, rotated and expired ones included; undefined when it does not exist. */
export const findRefreshToken = async (database: Database, token: string): Promise<StoredRefreshToken | undefined> =>
  (await selectObjects<StoredRefreshToken>(database, REFRESH_TOKEN, [hashSecret(token)]))[0];

/**
 * Marks the token as rotated; returns false when another request already did. The instant is of the database's clock, because another
 * instance may see the token again.
 */
export async function rotateRefreshToken(em: EntityManager, { digest }: StoredRefreshToken): Promise<boolean> {
  const rotatedAt = raw<string>('clock_timestamp()');
  return (await em.nativeUpdate(RefreshToken, { digest, rotatedAt: null }, { rotatedAt })) === 1;
}

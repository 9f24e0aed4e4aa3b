import { type EntityManager, raw } from '@mikro-orm/postgresql';
import { RefreshToken } from '../../../entities/refresh-token.entity.ts';
import { REFRESH_TOKEN_DAYS } from '../../domain/retention/retention-rules.ts';
import { hashSecret, newSecret } from '../../shared/secrets.ts';
import { createTokenLookup, type StoredToken } from './token-families.ts';

/** Lifetime of a refresh token in seconds: 30 days. OAU-32. */
export const REFRESH_TOKEN_SECONDS = REFRESH_TOKEN_DAYS * 24 * 3600;

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

/** `rotationAge` is in milliseconds since a new token replaced it, by the database's clock; null until then. */
export const findRefreshToken = createTokenLookup<{ rotationAge: number | null }>(
  'oauth.refresh-token',
  'oauth_refresh_token',
  `'rotationAge', extract(epoch from clock_timestamp() - token.rotated_at) * 1000`,
);

/**
 * Marks the token as rotated; returns false when another request already did. The instant is of the database's clock, because another
 * instance may see the token again.
 */
export async function rotateRefreshToken(em: EntityManager, { digest }: StoredToken): Promise<boolean> {
  const rotatedAt = raw<string>('clock_timestamp()');
  return (await em.nativeUpdate(RefreshToken, { digest, rotatedAt: null }, { rotatedAt })) === 1;
}

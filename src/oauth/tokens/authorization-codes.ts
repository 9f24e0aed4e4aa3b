import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { AuditOrigin } from '../../../entities/audit-entry.entity.ts';
import { AuthorizationCode } from '../../../entities/authorization-code.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { selectObjects } from '../../database/read/select-objects.ts';
import { toConsentId } from '../../domain/access/consents.ts';
import { recordAudit } from '../../domain/audit/record-audit.ts';
import { hashSecret, newSecret } from '../../shared/secrets.ts';
import type { CodeBinding } from '../checks/pkce.check.ts';
import { FAMILY_PROPERTIES, type StoredTokenFamily } from './token-families.ts';

/** Lifetime of a code in seconds. OAU-30. */
const CODE_SECONDS = 600;

/** A user's consent to an authorization request. */
interface Consent extends CodeBinding {
  clientId: string;
  userId: string;
  builderId: string;
  scopes: string[];
}

/** A stored code with the token family of the tokens issued for it. */
interface StoredAuthorizationCode extends StoredTokenFamily, CodeBinding {
  digest: string;
  /** Milliseconds since the epoch. */
  codeExpiresAt: number;
  used: boolean;
}

/** Creates a token family and returns its code, of which the database stores only the digest. */
export async function issueAuthorizationCode(
  database: Database,
  consent: Consent,
  now: number,
  origin: AuditOrigin,
): Promise<string> {
  const { clientId, userId, builderId, scopes, ...binding } = consent;
  const code = newSecret();
  const createdAt = new Date(now).toISOString();
  const expiresAt = new Date(now + CODE_SECONDS * 1000).toISOString();
  await database.transaction(async (em) => {
    const familyId = randomUUID();
    const family = { id: familyId, clientId, userId, builderId, scopes, createdAt, expiresAt, revokedAt: null };
    await em.insert(TokenFamily, family);
    const digest = hashSecret(code);
    await em.insert(AuthorizationCode, { digest, familyId, ...binding, createdAt, expiresAt, usedAt: null });
    await recordAudit(em, {
      actor: { type: 'USER', id: userId },
      origin,
      at: createdAt,
      action: 'consent.granted',
      objectId: toConsentId(consent),
      builderId,
      personId: userId,
      after: { clientId, userId, builderId, scopes },
    });
  });
  return code;
}

const CODE: Statement = {
  name: 'oauth.code',
  text: `select json_build_object(${FAMILY_PROPERTIES}, 'digest', code.digest, 'redirectUri', code.redirect_uri,
      'codeChallenge', code.code_challenge, 'codeChallengeMethod', code.code_challenge_method,
      'codeExpiresAt', extract(epoch from code.expires_at) * 1000, 'used', code.used_at is not null)
    from oauth_authorization_code code join oauth_token_family family on family.id = code.family_id
    where code.digest = $1`,
};

/** Returns the code, consumed and expired ones included; undefined when it does not exist. */
export const findAuthorizationCode = async (
  database: Database,
  code: string,
): Promise<StoredAuthorizationCode | undefined> =>
  (await selectObjects<StoredAuthorizationCode>(database, CODE, [hashSecret(code)]))[0];

/** Marks the code as used; returns false when another request already did. */
export async function consumeAuthorizationCode(
  em: EntityManager,
  { digest }: StoredAuthorizationCode,
  now: number,
): Promise<boolean> {
  const usedAt = new Date(now).toISOString();
  return (await em.nativeUpdate(AuthorizationCode, { digest, usedAt: null }, { usedAt })) === 1;
}

import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AuthorizationCode } from '../../../entities/authorization-code.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { selectObjects } from '../../database/read/select-objects.ts';
import { toConsentId } from '../../domain/access/consents.ts';
import { type ChangeContext, inTransaction } from '../../domain/change-context.ts';
import { hashSecret, newSecret } from '../../shared/secrets.ts';
import type { CodeBinding } from '../checks/pkce.check.ts';
import { FAMILY_PROPERTIES, type StoredTokenFamily } from './token-families.ts';

/** Lifetime of a code in seconds. OAU-30. */
const CODE_SECONDS = 600;

/** A stored code with the token family of the tokens issued for it. */
interface StoredAuthorizationCode extends StoredTokenFamily, CodeBinding {
  digest: string;
  /** Milliseconds since the epoch. */
  codeExpiresAt: number;
  used: boolean;
}

/** Creates the token family of a user's consent and returns its code, of which the database stores only the digest. */
export const issueAuthorizationCode = (
  context: ChangeContext,
  consent: Pick<TokenFamily, 'clientId' | 'userId' | 'builderId' | 'scopes'>,
  binding: CodeBinding,
): Promise<string> =>
  inTransaction(context, async (em, now, record) => {
    const code = newSecret();
    const expiresAt = new Date(Date.parse(now) + CODE_SECONDS * 1000).toISOString();
    const [digest, familyId] = [hashSecret(code), randomUUID()];
    await em.insert(TokenFamily, { id: familyId, ...consent, createdAt: now, expiresAt, revokedAt: null });
    await em.insert(AuthorizationCode, { digest, familyId, ...binding, createdAt: now, expiresAt, usedAt: null });
    const { builderId, userId } = consent;
    const subject = { objectId: toConsentId(consent), builderId, personId: userId };
    await record({ ...subject, action: 'consent.granted', after: consent });
    return code;
  });

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

import { randomUUID } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { AuthorizationCode } from '../../../entities/authorization-code.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { toConsentId } from '../../domain/access/consents.ts';
import { type ChangeContext, inTransaction } from '../../domain/change-context.ts';
import { hashSecret, newSecret } from '../../shared/secrets.ts';
import type { CodeBinding } from '../checks/pkce.check.ts';
import { accessDenied } from '../errors.ts';
import { createTokenLookup, type StoredToken } from './token-families.ts';

/** Lifetime of a code in seconds. OAU-30. */
const CODE_SECONDS = 600;

/** Creates the token family of a user's consent and returns its code, of which the database stores only the digest. */
export const issueAuthorizationCode = (
  context: ChangeContext,
  consent: Pick<TokenFamily, 'clientId' | 'userId' | 'builderId' | 'scopes' | 'resource'>,
  binding: CodeBinding,
): Promise<string> =>
  inTransaction(context, async (em, now, record) => {
    const code = newSecret();
    const expiresAt = new Date(Date.parse(now) + CODE_SECONDS * 1000).toISOString();
    const [digest, familyId] = [hashSecret(code), randomUUID()];
    await em.insert(TokenFamily, { id: familyId, ...consent, createdAt: now, expiresAt, revokedAt: null });
    await em.insert(AuthorizationCode, { digest, familyId, ...binding, createdAt: now, expiresAt, usedAt: null });
    const { builderId, userId } = consent;
    // SQL: a removal of the membership waits, and then revokes the family. After the user, whom the family locks, as every change of a user.
    const sql = 'select from membership where user_id = ? and builder_id = ? for key share';
    if ((await em.execute(sql, [userId, builderId])).length === 0)
      throw accessDenied('The user is not a member of the builder.');
    const subject = { objectId: toConsentId(consent), builderId, personId: userId };
    await record({ ...subject, action: 'consent.granted', after: consent });
    return code;
  });

export const findAuthorizationCode = createTokenLookup<CodeBinding & { used: boolean }>(
  'oauth.code',
  'oauth_authorization_code',
  `'redirectUri', token.redirect_uri, 'codeChallenge', token.code_challenge,
      'codeChallengeMethod', token.code_challenge_method, 'used', token.used_at is not null`,
);

/** Marks the code as used; returns false when another request already did. */
export async function consumeAuthorizationCode(
  em: EntityManager,
  { digest }: StoredToken,
  usedAt: string,
): Promise<boolean> {
  return (await em.nativeUpdate(AuthorizationCode, { digest, usedAt: null }, { usedAt })) === 1;
}

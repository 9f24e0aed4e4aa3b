import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { type ChangeContext, inTransaction } from '../change-context.ts';

/** A user's authorisation of a client for one builder. It has a token family for each time that the user allowed it. */
interface ConsentKey {
  userId: string;
  clientId: string;
  builderId: string;
}

export const toConsentId = ({ userId, clientId, builderId }: ConsentKey) => `${userId}/${clientId}/${builderId}`;

/**
 * Revokes every code and token that a client has of the user for the builder. Returns the ids of the token families, so that the caller
 * evicts their tokens; other instances apply it within a second (ACC-5, OAU-47). Empty if there was nothing to revoke.
 */
export const revokeConsent = (context: ChangeContext, key: ConsentKey, reason: string): Promise<string[]> =>
  inTransaction(context, async (em, now, record) => {
    const { userId, clientId, builderId } = key;
    const families = await em.execute<{ id: string; scopes: string[] }[]>(
      `update oauth_token_family set revoked_at = ?
        where user_id = ? and client_id = ? and builder_id = ? and revoked_at is null returning id, scopes`,
      [now, userId, clientId, builderId],
    );
    if (families.length > 0) {
      const scopes = [...new Set(families.flatMap((family) => family.scopes))];
      const subject = { objectId: toConsentId(key), builderId, personId: userId };
      await record({ ...subject, action: 'consent.revoked', before: { ...key, scopes }, after: { reason } });
    }
    return families.map(({ id }) => id);
  });

/** Revokes one token family, such as that of a code which was used twice. Returns whether it was not revoked before. */
export const revokeFamily = (
  context: ChangeContext,
  { familyId, ...key }: ConsentKey & { familyId: string },
  reason: string,
): Promise<boolean> =>
  inTransaction(context, async (em, now, record) => {
    const changed = (await em.nativeUpdate(TokenFamily, { id: familyId, revokedAt: null }, { revokedAt: now })) > 0;
    if (changed) {
      const { userId, clientId, builderId } = key;
      const subject = { objectId: toConsentId(key), builderId, personId: userId };
      await record({
        ...subject,
        action: 'consent.revoked',
        before: { userId, clientId, builderId },
        after: { reason },
      });
    }
    return changed;
  });

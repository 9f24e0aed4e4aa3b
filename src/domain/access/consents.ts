import { LockMode } from '@mikro-orm/core';
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
 *
 * @param familyId the only family to revoke, such as that of a code which was used twice
 */
export const revokeConsent = (
  context: ChangeContext,
  key: ConsentKey,
  reason: string,
  familyId: string | null = null,
): Promise<string[]> =>
  inTransaction(context, async (em, now, record) => {
    const { userId, clientId, builderId } = key;
    // SQL: the key share with which the entry locks the user who acts. Before the families, as every change of a user: or two could deadlock.
    if (context.source.actor.type === 'USER')
      await em.execute('select from app_user where id = ? for key share', [userId]);
    const where = { userId, clientId, builderId, revokedAt: null, ...(familyId !== null && { id: familyId }) };
    const families = await em.find(TokenFamily, where, {
      orderBy: { id: 'asc' },
      lockMode: LockMode.PESSIMISTIC_WRITE,
    });
    for (const family of families) family.revokedAt = now;
    if (families.length > 0) {
      const scopes = [...new Set(families.flatMap((family) => family.scopes))];
      const subject = { objectId: toConsentId(key), builderId, personId: userId };
      const before = { userId, clientId, builderId, scopes };
      await record({ ...subject, action: 'consent.revoked', before, after: { reason } });
    }
    return families.map(({ id }) => id);
  });

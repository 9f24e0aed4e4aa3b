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
    const families = await em.execute<{ id: string; scopes: string[] }[]>(
      `update oauth_token_family set revoked_at = ? where user_id = ? and client_id = ? and builder_id = ?
        and (?::text is null or id = ?) and revoked_at is null returning id, scopes`,
      [now, userId, clientId, builderId, familyId, familyId],
    );
    if (families.length > 0) {
      const scopes = [...new Set(families.flatMap((family) => family.scopes))];
      const subject = { objectId: toConsentId(key), builderId, personId: userId };
      const before = { userId, clientId, builderId, scopes };
      await record({ ...subject, action: 'consent.revoked', before, after: { reason } });
    }
    return families.map(({ id }) => id);
  });

import { LockMode } from '@mikro-orm/core';
import { User } from '../../../entities/user.entity.ts';
import { type ChangeContext, changeRow, inTransaction } from '../change-context.ts';
import { toStoredEmail } from './access-values.ts';
import { toEmailFilter } from './users.ts';

/** A person whom an OpenID Connect provider has identified. */
export interface Identity {
  issuer: string;
  /** `sub`. */
  subject: string;
  /** Null unless the provider has verified it. */
  email: string | null;
}

/**
 * Whether somebody else has got the address of a staff user: one with the address in any region is bound to another identity in any region.
 * CON-19.
 */
export async function isSuccessor(contexts: readonly ChangeContext[], identity: Identity): Promise<boolean> {
  const { issuer, subject, email } = identity;
  if (email === null) return false;
  const findAll = async (filter: object) =>
    (await Promise.all(contexts.map(({ database }) => database.fork().find(User, filter)))).flat();
  const owners = await findAll({ email: toStoredEmail(email) });
  const bound = await findAll({ id: owners.map(({ id }) => id), oidcSubject: { $ne: null } });
  return bound.some(({ oidcIssuer, oidcSubject }) => oidcIssuer !== issuer || oidcSubject !== subject);
}

/**
 * Returns the id of the enabled staff user of the region whom the identity is bound to; null without one. An identity that is bound to nobody is
 * bound to the staff user with its e-mail address, unless that user is bound to another one: somebody else may have got the address. CON-19.
 *
 * @param mayBind whether it is not that of a successor
 */
export function findStaffUser(
  context: ChangeContext,
  { issuer, subject, email }: Identity,
  mayBind: boolean,
): Promise<string | null> {
  return inTransaction(context, async (em, now, record) => {
    const identity = { oidcIssuer: issuer, oidcSubject: subject };
    const bound = await em.findOne(User, identity);
    if (bound) return bound.disabledAt === null ? bound.id : null;
    if (email === null) return null;
    const filter = { ...toEmailFilter(email), staffRole: { $ne: null }, disabledAt: null };
    const user = await em.findOne(User, filter, { lockMode: LockMode.PESSIMISTIC_WRITE });
    // An address that is only compared as equal, such as one with ß in place of ss, may be somebody else's.
    if (!user || user.email !== toStoredEmail(email)) return null;
    const subjects = { objectId: user.id, personId: user.id };
    if (user.oidcSubject === subject && user.oidcIssuer === issuer) return user.id;
    if (user.oidcSubject !== null || !mayBind) {
      await record({ ...subjects, action: 'staff.identity_refused', after: { oidcIssuer: issuer } });
      return null;
    }
    await changeRow(user, identity, now, record, { ...subjects, action: 'staff.identity_bound' });
    return user.id;
  });
}

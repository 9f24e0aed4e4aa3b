import type { EntityManager } from '@mikro-orm/postgresql';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { PasswordLink, type PasswordLinkPurpose } from '../../../entities/password-link.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import type { RegionId } from '../../shared/regions.ts';
import { hashSecret, newSecret } from '../../shared/secrets.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { type ChangeContext, inTransaction, lockRow } from '../change-context.ts';
import { InvalidInputError } from './invalid-input-error.ts';
import { deleteSessions, lockUser, toEmailFilter } from './users.ts';

/** Hours for which a link can be used. OAU-43. */
export const LINK_HOURS = 24;

/** Path of the page for choosing a password. */
const PASSWORD_PATH = '/account/password';

/** A new link. Only its token's digest is stored, so that it is returned once. */
export interface NewPasswordLink {
  userId: string;
  name: string;
  email: string;
  /** Path and query; the base URL goes before it. */
  path: string;
  expiresAt: string;
}

/** Creates a link for a user without a password. @param emailed Whether the link is sent by e-mail, for the audit log. */
export const inviteUser = (context: ChangeContext, who: string, emailed: boolean): Promise<NewPasswordLink> =>
  inTransaction(context, async (em, now) => {
    const user = await lockEnabledUser(context, em, who);
    if (user.passwordHash !== null)
      throw new InvalidInputError('user', `${who} has a password already; reset it instead`);
    return createLink(context, em, now, user, { purpose: 'INVITE', emailed });
  });

/** Creates a link with which a user replaces the password. The password and the sessions remain until it is used. */
export const resetPassword = (context: ChangeContext, who: string, emailed: boolean): Promise<NewPasswordLink> =>
  inTransaction(context, async (em, now) =>
    createLink(context, em, now, await lockEnabledUser(context, em, who), { purpose: 'RESET', emailed }),
  );

/** Returns the user for update. Messages name it as the caller does, because who gives an id has not read the address. */
async function lockEnabledUser(context: ChangeContext, em: EntityManager, who: string): Promise<User> {
  const user = await lockUser(context, em, who);
  if (user.disabledAt !== null) throw new InvalidInputError('user', `${who} is disabled`);
  return user;
}

/** Links that an account can request in an hour; further requests are ignored. OAU-45. */
const LINKS_PER_HOUR = 3;
/** Links of an account in an hour with those that could not be sent, of which the audit log keeps an entry. */
const ATTEMPTS_PER_HOUR = 20;

/**
 * Creates a link that was requested for an e-mail address. Returns null without an enabled account with a password, for a staff
 * user, and when the account has requested three links within the hour.
 */
export const requestPasswordReset = (context: ChangeContext, email: string): Promise<NewPasswordLink | null> =>
  inTransaction(context, async (em, now) => {
    const user = await lockRow(em, User, {
      ...toEmailFilter(email),
      disabledAt: null,
      staffRole: null,
      passwordHash: { $ne: null },
    });
    if (!user) return null;
    const hourAgo = new Date(Date.parse(now) - 3_600_000).toISOString();
    const recent = await em.count(PasswordLink, { userId: user.id, purpose: 'RESET', createdAt: { $gt: hourAgo } });
    const entries = { objectId: user.id, action: 'password_link.created', at: { $gt: hourAgo } };
    if (recent >= LINKS_PER_HOUR || (await em.count(AuditEntry, entries)) >= ATTEMPTS_PER_HOUR) return null;
    return createLink(context, em, now, user, { purpose: 'RESET', emailed: true });
  });

async function createLink(
  context: ChangeContext,
  em: EntityManager,
  now: string,
  user: User,
  { purpose, emailed }: { purpose: PasswordLinkPurpose; emailed: boolean },
): Promise<NewPasswordLink> {
  const token = newSecret();
  const expiresAt = new Date(Date.parse(now) + LINK_HOURS * 3_600_000).toISOString();
  await em.insert(PasswordLink, { digest: hashSecret(token), userId: user.id, purpose, createdAt: now, expiresAt });
  const action = user.staffRole === null ? 'password_link.created' : 'staff.password_link_created';
  const change = { action, objectId: user.id, personId: user.id, after: { purpose, expiresAt, emailed } } as const;
  await recordAudit(em, { ...context.source, at: now, ...change });
  const query = new URLSearchParams({ region: context.database.region satisfies RegionId, token });
  return { userId: user.id, name: user.name, email: user.email, path: `${PASSWORD_PATH}?${query}`, expiresAt };
}

/** Deletes a link that could not be sent, which must not count as sent (OAU-45). */
export const deletePasswordLink = (context: ChangeContext, { userId, path }: NewPasswordLink): Promise<void> =>
  inTransaction(context, async (em, _now, record) => {
    const token = new URLSearchParams(path.slice(path.indexOf('?'))).get('token')!;
    const link = await em.findOne(PasswordLink, { digest: hashSecret(token) });
    if (!link) return;
    em.remove(link);
    const before = { purpose: link.purpose, expiresAt: link.expiresAt };
    await record({ action: 'password_link.deleted', objectId: userId, personId: userId, before });
  });

/** Returns the enabled user whose link has this token; null for a link that is unknown, expired or used. */
export async function findLinkedUser(
  { database, clock }: Pick<ChangeContext, 'database' | 'clock'>,
  token: string,
): Promise<User | null> {
  const em = database.fork();
  const expiresAt = { $gt: new Date(clock.now()).toISOString() };
  const link = await em.findOne(PasswordLink, { digest: hashSecret(token), expiresAt });
  return link && em.findOne(User, { id: link.userId, disabledAt: null });
}

/**
 * Sets the password of the link's user and ends all sessions and all links of that user. Of concurrent uses of one link, one succeeds.
 * Returns the user; null for a link that cannot be used. OAU-44.
 *
 * @param passwordHash argon2id in PHC form.
 */
export const usePasswordLink = (context: ChangeContext, token: string, passwordHash: string): Promise<User | null> =>
  inTransaction(context, async (em, now) => {
    const where = { digest: hashSecret(token), expiresAt: { $gt: now } };
    const used = await em.findOne(PasswordLink, where);
    // Before the link, as in every change that ends links: two in another order could deadlock.
    const user = used && (await lockRow(em, User, { id: used.userId, disabledAt: null }));
    if (!user || !(await lockRow(em, PasswordLink, where))) return null;
    Object.assign(user, { passwordHash, updatedAt: now });
    await em.nativeDelete(PasswordLink, { userId: user.id });
    const endedSessions = await deleteSessions(em, user.id);
    const { origin } = context.source;
    const change = { action: 'password.set', objectId: user.id, personId: user.id, after: { endedSessions } } as const;
    await recordAudit(em, { actor: { type: 'USER', id: user.id }, origin, at: now, ...change });
    return user;
  });

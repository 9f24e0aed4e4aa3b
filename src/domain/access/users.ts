import { AsyncLocalStorage } from 'node:async_hooks';
import { LockMode, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { ConsoleSession } from '../../../entities/console-session.entity.ts';
import { PasswordLink } from '../../../entities/password-link.entity.ts';
import { Session } from '../../../entities/session.entity.ts';
import { TokenFamily } from '../../../entities/token-family.entity.ts';
import { type StaffRole, User } from '../../../entities/user.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import type { RegionId } from '../../shared/regions.ts';
import { type ChangeContext, changeRow, insertUnique, inTransaction } from '../change-context.ts';
import { requireUnchanged } from '../edit-conflicts.ts';
import { parseId, parseUserEmail, requireSingleLine } from './access-values.ts';
import { InvalidInputError } from './invalid-input-error.ts';
import { checkPassword } from './password-rules.ts';
import { hashPassword } from './passwords.ts';
import { STAFF_ROLES } from './staff-roles.ts';

export interface NewUser {
  email: string;
  name: string;
  /** Null for a user who chooses it by a one-time link. */
  password: string | null;
  /** Role of a staff user; absent for a user of builders. */
  staffRole?: string;
}

interface CreatedUser {
  regionId: RegionId;
  userId: string;
  email: string;
  name: string;
  staffRole: StaffRole | null;
  createdAt: string;
}

/** Registers a user without memberships. */
export async function createUser(context: ChangeContext, request: NewUser) {
  const [user] = await createUserInRegions([context], request);
  return user!;
}

/**
 * Registers a user in several regions under one id, so that the audit logs of all name the same person. A region in which the staff
 * user is registered already with the role, as after a kill between the two commits, is left as it is. Returns the new users.
 *
 * @param lookupOnly Further regions, which are only searched for the id that a staff user has already.
 */
export async function createUserInRegions(
  contexts: readonly ChangeContext[],
  request: NewUser,
  lookupOnly: readonly ChangeContext[] = [],
): Promise<CreatedUser[]> {
  const email = parseUserEmail(request.email);
  const name = requireSingleLine('name', request.name);
  const staffRole = request.staffRole === undefined ? null : parseStaffRole(request.staffRole);
  if (contexts.length > 1 && staffRole === null)
    throw new InvalidInputError('region', 'a user of builders is registered in one region');
  if (request.password !== null) await checkPassword(request.password, { name, email });
  const missing: ChangeContext[] = [];
  let id: string | null = null;
  for (const context of [...contexts, ...lookupOnly]) {
    const user = await (context.em ?? context.database.fork()).findOne(User, toEmailFilter(email));
    if (staffRole !== null && user !== null && user.staffRole !== null) id ??= user.id;
    if (!contexts.includes(context)) continue;
    if (user === null) missing.push(context);
    else if (staffRole === null || user.staffRole !== staffRole) throw emailTaken(context.database.region, email);
  }
  if (missing.length === 0) throw emailTaken(contexts[0]!.database.region, email);
  const passwordHash = request.password === null ? null : await hashPassword(request.password);
  id ??= newId('user', contexts[0]!.clock.now());
  return insertUser(missing, { id, email, name, passwordHash, staffRole });
}

/** Inserts the user in each region. A failure in one of them rolls the regions before it back. */
function insertUser(
  [context, ...others]: readonly ChangeContext[],
  user: Pick<User, 'id' | 'email' | 'name' | 'passwordHash' | 'staffRole'>,
): Promise<CreatedUser[]> {
  const { region } = context!.database;
  const { id, email, name, passwordHash, staffRole } = user;
  // Within its transaction, MikroORM would send the statements for the other region to this one.
  const runOutside = AsyncLocalStorage.snapshot();
  return inTransaction(context!, async (em, now, record) => {
    const row = {
      ...user,
      pictureKey: null,
      oidcIssuer: null,
      oidcSubject: null,
      disabledAt: null,
      createdAt: now,
      updatedAt: now,
    };
    await insertUnique(em, User, row, emailTaken(region, email));
    const subject = { objectId: id, personId: id };
    const after = { name, email, ...(staffRole !== null && { staffRole }) };
    await record({ ...subject, action: staffRole === null ? 'user.created' : 'staff.created', after });
    if (passwordHash !== null) await record({ ...subject, action: 'password.set' });
    const created = { regionId: region, userId: id, email, name, staffRole, createdAt: now };
    return [created, ...(others.length > 0 ? await runOutside(insertUser, others, user) : [])];
  });
}

const emailTaken = (region: string, email: string) =>
  new InvalidInputError('email', `${region} has a user ${email} already`);

/** Properties to replace; absent ones are kept. */
interface UserUpdate {
  name?: string;
  email?: string;
  /** Of a staff user only: a user of builders cannot become one. */
  staffRole?: string;
}

/** Updates a user, given by id or e-mail address. A changed e-mail address ends the user's one-time links. */
export async function updateUser(context: ChangeContext, who: string, update: UserUpdate) {
  const valid = {
    ...(update.name !== undefined && { name: requireSingleLine('name', update.name) }),
    ...(update.email !== undefined && { email: parseUserEmail(update.email) }),
    ...(update.staffRole !== undefined && { staffRole: parseStaffRole(update.staffRole) }),
  };
  return inTransaction(context, async (em, now, record) => {
    const user = await lockUser(context, em, who);
    if (valid.staffRole !== undefined && user.staffRole === null)
      throw new InvalidInputError('role', `${who} is not a staff user, and cannot become one`);
    const previousEmail = user.email;
    if (valid.email !== undefined && valid.email !== previousEmail) {
      if (await em.count(User, { ...toEmailFilter(valid.email), id: { $ne: user.id } }))
        throw emailTaken(context.database.region, valid.email);
      // They were sent to the earlier address.
      await em.nativeDelete(PasswordLink, { userId: user.id });
      // The provider's identity with the new address is bound at its next sign-in.
      if (user.oidcIssuer !== null) Object.assign(valid, { oidcIssuer: null, oidcSubject: null });
    }
    const action = user.staffRole === null ? 'user.updated' : 'staff.updated';
    const changed = await changeRow(user, valid, now, record, { action, objectId: user.id, personId: user.id });
    const { name, email, staffRole } = user;
    return { userId: user.id, name, email, staffRole, changed, previousEmail };
  });
}

/** Disables a user, and ends all sessions, password links, codes and tokens of the user. OAU-25, OAU-35. */
export const disableUser = (context: ChangeContext, who: string) => setUserEnabled(context, who, false);

/** Enables a disabled user again, who signs in anew. */
export const enableUser = (context: ChangeContext, who: string) => setUserEnabled(context, who, true);

async function setUserEnabled(context: ChangeContext, who: string, enabled: boolean) {
  return inTransaction(context, async (em, now, record) => {
    const user = await lockUser(context, em, who);
    const action = `${user.staffRole === null ? 'user' : 'staff'}.${enabled ? 'enabled' : 'disabled'}` as const;
    const after = { disabledAt: enabled ? null : (user.disabledAt ?? now) };
    const changed = await changeRow(user, after, now, record, { action, objectId: user.id, personId: user.id });
    if (changed) {
      // Also before enabling: a sign-in or consent may have been stored while the user was being disabled.
      await deleteSessions(em, user.id);
      await em.nativeDelete(PasswordLink, { userId: user.id });
      await em.nativeUpdate(TokenFamily, { userId: user.id, revokedAt: null }, { revokedAt: now });
    }
    return { userId: user.id, email: user.email, disabledAt: user.disabledAt, changed };
  });
}

/** Ends the user's sessions on the pages for users and in the console, and returns their number. */
export async function deleteSessions(em: EntityManager, userId: string): Promise<number> {
  const sessions = await em.nativeDelete(Session, { userId });
  return sessions + (await em.nativeDelete(ConsoleSession, { userId }));
}

/** Returns the user with this id or e-mail address; throws `InvalidInputError` if there is none. */
export async function requireUser(
  { database }: Pick<ChangeContext, 'database'>,
  em: EntityManager,
  who: string,
  lockMode?: LockMode,
): Promise<User> {
  const where = who.includes('@') ? toEmailFilter(who) : { id: parseId('user', 'user', who) };
  const user = await em.findOne(User, where, { lockMode });
  if (!user) throw new InvalidInputError('user', `there is no user ${who} in ${database.region}`);
  return user;
}

/** Returns the user as `requireUser` does, with a locked row. Throws `EDIT_CONFLICT` if the user has changed since the person saw it. */
export async function lockUser(context: ChangeContext, em: EntityManager, who: string): Promise<User> {
  const user = await requireUser(context, em, who, LockMode.PESSIMISTIC_WRITE);
  await requireUnchanged(context, em, user, user.id);
  return user;
}

/** Returns the filter for the user whose e-mail address is compared as equal. */
export const toEmailFilter = (email: string): Record<symbol, string> => ({
  [raw<string>((alias) => `comparable_text(${alias}.email)`)]: toComparableText(email),
});

function parseStaffRole(text: string): StaffRole {
  const role = STAFF_ROLES.find((each) => each === text);
  if (!role) throw new InvalidInputError('role', `"${text}" is not one of ${STAFF_ROLES.join(', ')}`);
  return role;
}

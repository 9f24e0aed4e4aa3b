import { Session } from '../../../entities/session.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { hashSecret } from '../../shared/secrets.ts';

/** Lifetime of a session in seconds: a working day. Activity does not extend it. CON-1. */
export const SESSION_SECONDS = 12 * 3600;

export interface SignedInUser {
  id: string;
  name: string;
  email: string;
}

/** A user who can sign in. */
export interface Account {
  id: string;
  /** argon2id in PHC form. */
  passwordHash: string;
}

/** Users of builders sign in on the pages for users, staff users only in the console (ACC-26). */
export type AccountKind = 'user' | 'staff';

const ACCOUNT: Statement = {
  name: 'oauth.account',
  text: `select id, password_hash from app_user
    where comparable_text(email) = $1 and disabled_at is null and password_hash is not null and (staff_role is not null) = $2::boolean`,
};

/** Returns the enabled account of the kind with a password and this e-mail address in its comparable form; null without one. */
export async function findAccount(database: Database, email: string, kind: AccountKind): Promise<Account | null> {
  const [row] = await database.runner.run(ACCOUNT, [email, String(kind === 'staff')]);
  return row ? { id: row[0]!, passwordHash: row[1]! } : null;
}

/** Returns the row of a session that begins now. Only the cookie has its secret. */
export const toSessionRow = (secret: string, user: Account, now: number) => ({
  digest: hashSecret(secret),
  userId: user.id,
  passwordDigest: hashSecret(user.passwordHash),
  createdAt: new Date(now).toISOString(),
  expiresAt: new Date(now + SESSION_SECONDS * 1000).toISOString(),
});

/** Creates a session for the user under a browser id, which must be newly issued. */
export async function createSession(database: Database, browserId: string, user: Account, now: number): Promise<void> {
  await database.fork().insert(Session, toSessionRow(browserId, user, now));
}

/** Deletes the session of the browser id, if there is one. */
export async function deleteSession(database: Database, browserId: string): Promise<void> {
  await database.fork().nativeDelete(Session, { digest: hashSecret(browserId) });
}

const SESSION: Statement = {
  name: 'oauth.session',
  text: `select app_user.id, app_user.name, app_user.email
    from oauth_session session join app_user on app_user.id = session.user_id
    where session.digest = $1 and session.expires_at > $2 and app_user.disabled_at is null
      and app_user.staff_role is null
      and encode(sha256(convert_to(app_user.password_hash, 'UTF8')), 'hex') = session.password_digest`,
};

/** Returns the signed-in user; null without a session, after its expiry or a password change, and for a disabled user. */
export async function findSessionUser(
  database: Database,
  browserId: string | null,
  now: number,
): Promise<SignedInUser | null> {
  if (browserId === null) return null;
  const [row] = await database.runner.run(SESSION, [hashSecret(browserId), new Date(now).toISOString()]);
  return row ? { id: row[0]!, name: row[1]!, email: row[2]! } : null;
}

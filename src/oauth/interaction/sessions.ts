import { ConsoleSession } from '../../../entities/console-session.entity.ts';
import { Session } from '../../../entities/session.entity.ts';
import type { StaffRole } from '../../../entities/user.entity.ts';
import type { Database } from '../../database/database.ts';
import { type Statement, statement } from '../../database/pool/pg-pipeline.ts';
import { selectObjects } from '../../database/read/select-objects.ts';
import { hashSecret } from '../../shared/secrets.ts';

/** Lifetime of a session in seconds: a working day. Activity does not extend it. */
export const SESSION_SECONDS = 12 * 3600;

export interface SignedInUser {
  id: string;
  name: string;
  email: string;
}

/** A signed-in staff user of one region. */
export interface StaffUser extends SignedInUser {
  role: StaffRole;
  /** ISO 8601: when the session ends at the latest. */
  expiresAt: string;
}

/** A user who can sign in, and with what: a session ends when it changes. */
export interface Account {
  id: string;
  /** The password's argon2id in PHC form, or the identity as `toIdentityCredential` writes it. */
  credential: string;
  /** The address in its comparable form, for a sign-in with a password. */
  email?: string;
}

/** Users of builders sign in on the pages for users, staff users only in the console (ACC-26). */
export type AccountKind = 'user' | 'staff';

const ENTITIES = { user: Session, staff: ConsoleSession };

const ACCOUNT = statement(
  'oauth.account',
)`select json_build_object('id', id, 'credential', password_hash, 'email', comparable_text(email)) from app_user
  where comparable_text(email) = $1 and disabled_at is null and password_hash is not null and (staff_role is not null) = $2::boolean`;

/** Returns the enabled account of the kind with a password and this e-mail address in its comparable form; null without one. */
export async function findAccount(database: Database, email: string, kind: AccountKind): Promise<Account | null> {
  const [account] = await selectObjects<Account>(database, ACCOUNT, [email, String(kind === 'staff')]);
  return account ?? null;
}

/**
 * Creates a session for the user under a newly issued secret, which only the cookie has. None for an account whose address was changed since it
 * was found. SQL: the lock waits for a change that ends the sessions.
 */
export async function createSession(
  database: Database,
  secret: string,
  { id, credential, email }: Account,
  now: number,
  kind: AccountKind = 'user',
  seconds = SESSION_SECONDS,
): Promise<void> {
  const times = [now, now + seconds * 1000].map((time) => new Date(time).toISOString());
  const sql = `insert into ${kind === 'user' ? 'oauth_session' : 'console_session'} (digest, credential_digest, created_at, expires_at, user_id)
    select ?, ?, ?::timestamptz, ?::timestamptz, id from app_user
    where id = ? and comparable_text(email) = coalesce(?, comparable_text(email)) for key share`;
  await database.fork().execute(sql, [hashSecret(secret), hashSecret(credential), ...times, id, email ?? null]);
}

/** Deletes the session of the secret, if there is one. */
export async function deleteSession(database: Database, secret: string, kind: AccountKind = 'user'): Promise<void> {
  await database.fork().nativeDelete(ENTITIES[kind], { digest: hashSecret(secret) });
}

/** Returns the credential of a staff user's identity at an OpenID Connect provider. `findSessionUser` compares its digest. */
export const toIdentityCredential = (issuer: string, subject: string): string => `${issuer} ${subject}`;

/** The role is that of now: a change of it applies to the next request. */
const createSelection = (name: string, table: string, role: string): Statement => ({
  name,
  text: `select json_build_object('id', app_user.id, 'name', app_user.name, 'email', app_user.email,
      'role', app_user.staff_role, 'expiresAt', to_char(session.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from ${table} session join app_user on app_user.id = session.user_id
    where session.digest = $1 and session.expires_at > $2 and app_user.disabled_at is null and app_user.staff_role ${role}
      and session.credential_digest in (
        case when $3::boolean then encode(sha256(convert_to(app_user.password_hash, 'UTF8')), 'hex') end,
        encode(sha256(convert_to(app_user.oidc_issuer || ' ' || app_user.oidc_subject, 'UTF8')), 'hex'))`,
});

const SELECTIONS = {
  user: createSelection('oauth.session', 'oauth_session', 'is null'),
  staff: createSelection('console.staff', 'console_session', 'is not null'),
};

/**
 * Returns the signed-in user of the kind; null without a session, after its expiry or a change of the credential, and for a user who is disabled
 * or of another kind.
 *
 * @param allowsPasswords whether sessions that a password began count
 */
export async function findSessionUser<Kind extends AccountKind>(
  database: Database,
  secret: string | null,
  now: number,
  kind: Kind,
  allowsPasswords = true,
): Promise<{ user: SignedInUser; staff: StaffUser }[Kind] | null> {
  if (secret === null) return null;
  const values = [hashSecret(secret), new Date(now).toISOString(), String(allowsPasswords)];
  const [user] = await selectObjects<StaffUser>(database, SELECTIONS[kind], values);
  return user ?? null;
}

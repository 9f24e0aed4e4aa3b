import { Session } from '../../../entities/session.entity.ts';
import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';
import { digestOf } from '../../shared/secrets.ts';

/** How long a sign-in lasts in seconds, whatever is done meanwhile: a working day. */
export const SESSION_SECONDS = 12 * 3600;

export interface SignedInUser {
  id: string;
  name: string;
  email: string;
}

/** What signing in needs of a user. */
export interface Account {
  id: string;
  /** argon2id in PHC form. */
  passwordHash: string;
}

const ACCOUNT: Statement = {
  name: 'oauth.account',
  text: `select id, password_hash from app_user
    where email = $1 and disabled_at is null and password_hash is not null`,
};

/** The user who signs in with this e-mail, in lower case; null for none, a disabled one, and one without a password. */
export async function findAccount(database: Database, email: string): Promise<Account | null> {
  const [row] = await database.runner.run(ACCOUNT, [email]);
  return row ? { id: row[0]!, passwordHash: row[1]! } : null;
}

/** Signs the user in, in the browser with that identifier, which must be a new one: nobody may know it beforehand. */
export async function openSession(database: Database, browserId: string, user: Account, now: number): Promise<void> {
  await database.fork().insert(Session, {
    digest: digestOf(browserId),
    userId: user.id,
    passwordDigest: digestOf(user.passwordHash),
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + SESSION_SECONDS * 1000).toISOString(),
  });
}

export async function closeSession(database: Database, browserId: string): Promise<void> {
  await database.fork().nativeDelete(Session, { digest: digestOf(browserId) });
}

const SESSION: Statement = {
  name: 'oauth.session',
  text: `select app_user.id, app_user.name, app_user.email
    from oauth_session session join app_user on app_user.id = session.user_id
    where session.digest = $1 and session.expires_at > $2 and app_user.disabled_at is null
      and encode(sha256(convert_to(app_user.password_hash, 'UTF8')), 'hex') = session.password_digest`,
};

/** Who has signed in in the browser; null when nobody has, or it is over: time, another password, a disabled user. */
export async function findSignedIn(
  database: Database,
  browserId: string | null,
  now: number,
): Promise<SignedInUser | null> {
  if (browserId === null) return null;
  const [row] = await database.runner.run(SESSION, [digestOf(browserId), new Date(now).toISOString()]);
  return row ? { id: row[0]!, name: row[1]!, email: row[2]! } : null;
}

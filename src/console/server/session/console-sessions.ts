import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleSession } from '../../../../entities/console-session.entity.ts';
import type { Database } from '../../../database/database.ts';
import type { Statement } from '../../../database/pool/pg-pipeline.ts';
import type { StaffRole } from '../../../domain/access/staff-roles.ts';
import type { Account } from '../../../oauth/interaction/sessions.ts';
import type { RegionId } from '../../../shared/regions.ts';
import { hashSecret, newSecret } from '../../../shared/secrets.ts';

/** Lifetime of a session in seconds: a working day. Activity does not extend it. CON-1. */
const SESSION_SECONDS = 12 * 3600;

/** A signed-in staff user of one region. */
export interface StaffUser {
  id: string;
  name: string;
  email: string;
  role: StaffRole;
  /** ISO 8601: when the session ends at the latest. */
  expiresAt: string;
}

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** The `__Host-` prefix keeps other hosts from setting the cookie; browsers accept it over HTTPS only. RFC 6265bis. */
const cookieName = (region: RegionId, secure: boolean) => `${secure ? '__Host-' : ''}console-${region}`;

function setCookie(reply: FastifyReply, region: RegionId, secure: boolean, value: string, maxAge: number): void {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${secure ? '; Secure' : ''}`;
  reply.header('Set-Cookie', `${cookieName(region, secure)}=${value}; ${attributes}`);
}

/** Creates a session of the staff user and sets its cookie. CON-1. */
export async function createConsoleSession(
  database: Database,
  reply: FastifyReply,
  secure: boolean,
  user: Account,
  now: number,
): Promise<void> {
  const secret = newSecret();
  await database.fork().insert(ConsoleSession, {
    digest: hashSecret(secret),
    userId: user.id,
    passwordDigest: hashSecret(user.passwordHash),
    createdAt: new Date(now).toISOString(),
    expiresAt: new Date(now + SESSION_SECONDS * 1000).toISOString(),
  });
  setCookie(reply, database.region, secure, secret, SESSION_SECONDS);
}

/** Deletes the browser's session of the region, if there is one, and its cookie. */
export async function endConsoleSession(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  secure: boolean,
): Promise<void> {
  const secret = readCookie(request, database.region, secure);
  if (secret === null) return;
  await database.fork().nativeDelete(ConsoleSession, { digest: hashSecret(secret) });
  setCookie(reply, database.region, secure, '', 0);
}

function readCookie(request: FastifyRequest, region: RegionId, secure: boolean): string | null {
  const name = `${cookieName(region, secure)}=`;
  const pairs = (request.headers.cookie ?? '').split(/; */);
  const value = pairs.find((pair) => pair.startsWith(name))?.slice(name.length);
  return value !== undefined && SECRET.test(value) ? value : null;
}

/** The role is that of now: a change of it applies to the next request. */
const STAFF: Statement = {
  name: 'console.staff',
  text: `select app_user.id, app_user.name, app_user.email, app_user.staff_role,
      extract(epoch from session.expires_at) * 1000
    from console_session session join app_user on app_user.id = session.user_id
    where session.digest = $1 and session.expires_at > $2 and app_user.disabled_at is null
      and app_user.staff_role is not null
      and encode(sha256(convert_to(app_user.password_hash, 'UTF8')), 'hex') = session.password_digest`,
};

/**
 * Returns the staff user of the browser's session in the region; null without one, after 12 hours, after a password change and for a
 * user who is disabled or no staff user. It is read at each request, so that a revocation applies at once. CON-2.
 */
export async function findStaff(
  database: Database,
  request: FastifyRequest,
  secure: boolean,
  now: number,
): Promise<StaffUser | null> {
  const secret = readCookie(request, database.region, secure);
  if (secret === null) return null;
  const [row] = await database.runner.run(STAFF, [hashSecret(secret), new Date(now).toISOString()]);
  if (!row) return null;
  const [id, name, email, role, expiresAt] = row as [string, string, string, StaffRole, string];
  return { id, name, email, role, expiresAt: new Date(Number(expiresAt)).toISOString() };
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleSession } from '../../../../entities/console-session.entity.ts';
import type { Database } from '../../../database/database.ts';
import type { Statement } from '../../../database/pool/pg-pipeline.ts';
import type { StaffRole } from '../../../domain/access/staff-roles.ts';
import { readSecretCookie, toCookieName } from '../../../oauth/interaction/secret-cookie.ts';
import { type Account, SESSION_SECONDS, toSessionRow } from '../../../oauth/interaction/sessions.ts';
import type { RegionId } from '../../../shared/regions.ts';
import { hashSecret, newSecret } from '../../../shared/secrets.ts';

/** A signed-in staff user of one region. */
export interface StaffUser {
  id: string;
  name: string;
  email: string;
  role: StaffRole;
  /** ISO 8601: when the session ends at the latest. */
  expiresAt: string;
}

function setCookie(reply: FastifyReply, region: RegionId, isSecure: boolean, value: string, maxAge: number): void {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;
  reply.header('Set-Cookie', `${toCookieName('console', region, isSecure)}=${value}; ${attributes}`);
}

/** Creates a session of the staff user and sets its cookie. CON-1. */
export async function createConsoleSession(
  database: Database,
  reply: FastifyReply,
  isSecure: boolean,
  user: Account,
  now: number,
): Promise<void> {
  const secret = newSecret();
  await database.fork().insert(ConsoleSession, toSessionRow(secret, user, now));
  setCookie(reply, database.region, isSecure, secret, SESSION_SECONDS);
}

/** Deletes the browser's session of the region, if there is one, and its cookie. */
export async function endConsoleSession(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  isSecure: boolean,
): Promise<void> {
  const secret = readCookie(request, database.region, isSecure);
  if (secret === null) return;
  await database.fork().nativeDelete(ConsoleSession, { digest: hashSecret(secret) });
  setCookie(reply, database.region, isSecure, '', 0);
}

const readCookie = (request: FastifyRequest, region: RegionId, isSecure: boolean): string | null =>
  readSecretCookie(request, toCookieName('console', region, isSecure));

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
  isSecure: boolean,
  now: number,
): Promise<StaffUser | null> {
  const secret = readCookie(request, database.region, isSecure);
  if (secret === null) return null;
  const [row] = await database.runner.run(STAFF, [hashSecret(secret), new Date(now).toISOString()]);
  if (!row) return null;
  const [id, name, email, role, expiresAt] = row as [string, string, string, StaffRole, string];
  return { id, name, email, role, expiresAt: new Date(Number(expiresAt)).toISOString() };
}

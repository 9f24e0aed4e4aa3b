import type { Database } from '../../../database/database.ts';
import type { SecretCookies } from '../../../oauth/interaction/secret-cookies.ts';
import { deleteSession, findSessionUser, type StaffUser } from '../../../oauth/interaction/sessions.ts';

/** Deletes the browser's session of the region, if there is one, and its cookie. */
export async function endConsoleSession(database: Database, cookies: SecretCookies): Promise<void> {
  const secret = cookies.read('console', database.region);
  if (secret === null) return;
  await deleteSession(database, secret, 'staff');
  cookies.delete('console', database.region);
}

/**
 * Returns the staff user of the browser's session in the region; null without one, after 12 hours, after a password change and for a
 * user who is disabled or no staff user. It is read at each request, so that a revocation applies at once. CON-2.
 */
export const findStaff = (database: Database, cookies: SecretCookies, now: number): Promise<StaffUser | null> =>
  findSessionUser(database, cookies.read('console', database.region), now, 'staff');

import type { FastifyReply } from 'fastify';
import type { Database } from '../../database/database.ts';
import { verifyPassword } from '../../domain/access/passwords.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { isKnownBrowser, rememberBrowser } from './known-browser.ts';
import type { PageRequest } from './page-request.ts';
import { type Account, deleteSession, findAccount } from './sessions.ts';
import { admitAttempt, clearAttempt } from './sign-in-throttle.ts';

/** Longer than any password that can be set. Bounds the hashing time, which grows with the length. */
const MAX_PASSWORD_LENGTH = 1000;

/**
 * Handles the sign-in form: creates a session in every region whose account has this password. OAU-25, OAU-27.
 *
 * The attempts of a network are also counted within the limit of hashes: their transactions wait for one row, each with a connection.
 */
export async function signIn(page: PageRequest): Promise<FastifyReply> {
  const fields = page.verifiedFields();
  const email = fields.get('email') ?? '';
  const { log, ip: address } = page.request;
  const region = page.databases.map((database) => database.region).join(' ');
  const { seconds, accounts } = await page.runPasswordHash(() =>
    verifyAttempt(page, toComparableText(email), fields.get('password') ?? ''),
  );
  if (seconds > 0) {
    log.warn({ region, address }, 'sign-in throttled');
    page.reply.header('Retry-After', String(seconds));
    return page.showSignIn({ email, problem: { kind: 'throttled', seconds } }, 429);
  }
  if (accounts.size === 0) {
    log.warn({ region, address }, 'sign-in failed');
    return page.showSignIn({ email, problem: { kind: 'rejected' } }, 400);
  }
  for (const [database, account] of accounts) {
    rememberBrowser(page, database.region, account);
    await page.startSession(database, account);
    log.info({ region: database.region, userId: account.id }, 'signed in');
  }
  return page.resume();
}

/**
 * Returns the accounts in the page's regions with this e-mail address and password, or the seconds to wait before an attempt. An unknown
 * user, a user without a password, a disabled user and a wrong password cost the same work, one hash per region, and give the same result.
 * OAU-28.
 */
async function verifyAttempt(
  page: PageRequest,
  email: string,
  password: string,
): Promise<{ seconds: number; accounts: ReadonlyMap<Database, Account> }> {
  const { databases, accountKind: kind, now } = page;
  const found = new Map<Database, Account | null>();
  for (const database of databases) found.set(database, await findAccount(database, email, kind));
  // A region without an account does not know the browser of its owner.
  const isKnown = [...found].some(([{ region }, account]) => isKnownBrowser(page, region, account));
  const attempt = { address: page.request.ip, email, kind, isKnownBrowser: isKnown };
  // In all regions, so that the attempt waits in them at the same time.
  let seconds = 0;
  for (const database of databases) seconds = Math.max(seconds, await admitAttempt(database, attempt, now));
  const accounts = new Map<Database, Account>();
  if (seconds > 0) return { seconds, accounts };
  const isLengthValid = password.length <= MAX_PASSWORD_LENGTH;
  for (const [database, account] of found) {
    const isPasswordCorrect = await verifyPassword(isLengthValid ? password : '', account?.credential ?? null);
    if (account && isPasswordCorrect && isLengthValid) accounts.set(database, account);
  }
  // The attempt guessed no password in a region without an account.
  const cleared = databases.filter((database) => accounts.has(database) || !found.get(database));
  if (accounts.size > 0) for (const database of cleared) await clearAttempt(database, attempt, now);
  return { seconds, accounts };
}

/** Handles the sign-out form: deletes the browser's session in every region. */
export async function signOut(page: PageRequest): Promise<FastifyReply> {
  page.verifiedFields();
  for (const database of Object.values(page.dependencies.databases)) {
    const browserId = page.browserIdIn(database);
    if (browserId === null) continue;
    await deleteSession(database, browserId);
    page.renewBrowserIdIn(database);
  }
  return page.redirect(page.signedOutUrl);
}

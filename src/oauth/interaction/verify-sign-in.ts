import type { Database } from '../../database/database.ts';
import { verifyPassword } from '../../domain/access/passwords.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { isKnownBrowser } from './known-browser.ts';
import type { PageRequest } from './page-request.ts';
import { type Account, findAccount } from './sessions.ts';
import { clearAttempt, countAttempt } from './sign-in-throttle.ts';

/** Longer than any password that can be set. Bounds the hashing time, which grows with the length. */
const MAX_PASSWORD_LENGTH = 1000;

interface RegionalAccount {
  database: Database;
  account: Account;
}

type SignInResult =
  | { kind: 'throttled'; seconds: number }
  | { kind: 'rejected' }
  | { kind: 'verified'; accounts: RegionalAccount[] };

/**
 * Returns the accounts in the page's regions with this e-mail address and password. An unknown user, a user without a password,
 * a disabled user and a wrong password cost the same work, one hash per region, and give the same result. OAU-28.
 *
 * The attempts of a network are also counted within the limit of hashes: their transactions wait for one row, each with a connection.
 */
export const verifySignIn = (page: PageRequest, email: string, password: string): Promise<SignInResult> =>
  page.runPasswordHash(() => verifyAttempt(page, email, password));

async function verifyAttempt(
  { request, databases, cookies, accountKind: kind, now }: PageRequest,
  typedEmail: string,
  password: string,
): Promise<SignInResult> {
  const email = toComparableText(typedEmail);
  const attempt = { address: request.ip, email, kind };
  const found = new Map<Database, Account | null>();
  for (const database of databases) found.set(database, await findAccount(database, email, kind));
  // A region without an account does not know the browser of its owner.
  const isKnown = [...found].some(([{ region }, account]) => isKnownBrowser(cookies, kind, region, account));
  // In all regions, so that the attempt waits in them at the same time.
  let seconds = 0;
  for (const database of databases) seconds = Math.max(seconds, await countAttempt(database, attempt, isKnown, now));
  if (seconds > 0) return { kind: 'throttled', seconds };
  const isLengthValid = password.length <= MAX_PASSWORD_LENGTH;
  const accounts: RegionalAccount[] = [];
  // The attempt guessed no password in a region without an account.
  const databasesWithoutAccount: Database[] = [];
  for (const [database, account] of found) {
    const isPasswordCorrect = await verifyPassword(isLengthValid ? password : '', account?.passwordHash ?? null);
    if (!account) databasesWithoutAccount.push(database);
    else if (isPasswordCorrect && isLengthValid) accounts.push({ database, account });
  }
  if (accounts.length === 0) return { kind: 'rejected' };
  for (const database of [...accounts.map((one) => one.database), ...databasesWithoutAccount]) {
    await clearAttempt(database, attempt, now);
  }
  return { kind: 'verified', accounts };
}

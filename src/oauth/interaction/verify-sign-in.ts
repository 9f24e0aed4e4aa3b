import type { Database } from '../../database/database.ts';
import { verifyPassword } from '../../domain/access/passwords.ts';
import type { FairShares } from '../../shared/fair-shares.ts';
import { toNetwork } from '../../shared/network.ts';
import { type Account, findAccount } from './sessions.ts';
import { clearAttempt, countAttempt, type SignInAttemptKey } from './sign-in-throttle.ts';

/** Longer than any password that can be set. Bounds the hashing time, which grows with the length. */
const MAX_PASSWORD_LENGTH = 1000;

/** Limits that password hashes are charged to: one occupies a thread for 30 milliseconds, and clients without an account can request one. */
export type HashLimits = Pick<FairShares, 'threads'>;

/** Runs work with hashes, of a request from this address. Every network has a share. */
export const runPasswordHash = <T>({ threads }: HashLimits, address: string, work: () => Promise<T>): Promise<T> =>
  threads.run(toNetwork(address), 1, work);

interface RegionalAccount {
  database: Database;
  account: Account;
}

type SignInResult =
  | { kind: 'throttled'; seconds: number }
  | { kind: 'rejected' }
  | { kind: 'verified'; accounts: RegionalAccount[] };

/**
 * Returns the accounts in these regions with this e-mail address and password. An unknown user, a user without a password,
 * a disabled user and a wrong password cost the same work, one hash per region, and give the same result. OAU-28.
 *
 * The attempts of a network are also counted within the limit of hashes: their transactions wait for one row, each with a connection.
 */
export const verifySignIn = (
  limits: HashLimits,
  ...parameters: Parameters<typeof verifyAttempt>
): Promise<SignInResult> => runPasswordHash(limits, parameters[1].address, () => verifyAttempt(...parameters));

async function verifyAttempt(
  databases: readonly Database[],
  attempt: SignInAttemptKey,
  password: string,
  now: number,
  isKnownBrowser: (database: Database, account: Account | null) => boolean,
): Promise<SignInResult> {
  const found = new Map<Database, Account | null>();
  for (const database of databases) found.set(database, await findAccount(database, attempt.email, attempt.kind));
  // A region without an account does not know the browser of its owner.
  const isKnown = [...found].some(([database, account]) => isKnownBrowser(database, account));
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

import type { Database } from '../../database/database.ts';
import { FairSemaphore } from '../../shared/fair-semaphore.ts';
import { networkOf } from '../../shared/network.ts';
import { verifyPassword } from '../../shared/passwords.ts';
import { type Account, findAccount } from './sessions.ts';
import { type Attempt, beginAttempt, forgiveAttempt } from './sign-in-throttle.ts';

/** Longer than any password that can be set; hashing takes time with the length. */
const LONGEST_PASSWORD = 1000;

/**
 * Hashing takes a thread of Node's pool for some 30 milliseconds, and anybody may ask for it. Half of the four threads are left to
 * what else needs them, the signatures of access tokens among it. Each network address has its share. 256 wait for about five seconds.
 */
const hashing = new FairSemaphore({
  ...{ name: 'password checks', capacity: 2, perShare: 1 },
  ...{ maxQueuedPerShare: 128, maxQueued: 256, maxWaitMs: 10_000 },
});

interface RegionalAccount {
  database: Database;
  account: Account;
}

type Outcome = { kind: 'wait'; seconds: number } | { kind: 'wrong' } | { kind: 'right'; accounts: RegionalAccount[] };

/**
 * Looks for the accounts of these regions that the password opens. An unknown user, one without a password, a disabled one and a
 * wrong password take the same work, one hash a region, and get the same answer. OAU-28.
 */
export async function checkPassword(
  databases: readonly Database[],
  attempt: Attempt,
  password: string,
  now: number,
): Promise<Outcome> {
  for (const database of databases) {
    const seconds = await beginAttempt(database, attempt, now);
    if (seconds > 0) return { kind: 'wait', seconds };
  }
  const fits = password.length <= LONGEST_PASSWORD;
  const accounts: RegionalAccount[] = [];
  // Where nobody has that e-mail nothing was guessed.
  const guessless: Database[] = [];
  for (const database of databases) {
    const account = await findAccount(database, attempt.email);
    const holds = await hashing.run(networkOf(attempt.address), 1, () =>
      verifyPassword(fits ? password : '', account?.passwordHash ?? null),
    );
    if (!account) guessless.push(database);
    else if (holds && fits) accounts.push({ database, account });
  }
  if (accounts.length === 0) return { kind: 'wrong' };
  for (const database of [...accounts.map((found) => found.database), ...guessless]) {
    await forgiveAttempt(database, attempt, now);
  }
  return { kind: 'right', accounts };
}

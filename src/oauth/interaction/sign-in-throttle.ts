import type { EntityManager } from '@mikro-orm/postgresql';
import { SignInAttempt } from '../../../entities/sign-in-attempt.entity.ts';
import type { Database } from '../../database/database.ts';
import { networkOf } from '../../shared/network.ts';
import { digestOf } from '../../shared/secrets.ts';

/** Failures that cost no wait. OAU-27. */
export const FREE_FAILURES = 10;

/** Longest wait in seconds: of an address that tries one account, and of an address whatever the account. */
const LONGEST_WAIT = { account: 900, address: 60 };

/** Seconds without a failure after which all is forgotten. */
const MEMORY_SECONDS = 3600;

export interface Attempt {
  address: string;
  /** Lower case. */
  email: string;
}

/** A wait is not over; it takes the transaction back, so that nothing was counted. */
class TooSoon extends Error {
  constructor(readonly retryAt: number) {
    super('Too soon');
  }
}

/**
 * Counts the attempt as failed before its password is looked at, so that many at once are no way around. Answers 0 when it may
 * go on, else the seconds to wait. Every wait belongs to an address, so nobody keeps an account's owner out from elsewhere.
 */
export async function beginAttempt(database: Database, attempt: Attempt, now: number): Promise<number> {
  const { address, account } = keysOf(attempt);
  try {
    await database.transaction(async (em) => {
      const retries = [
        await count(em, address, LONGEST_WAIT.address, now),
        await count(em, account, LONGEST_WAIT.account, now),
      ].filter((retryAt) => retryAt !== null);
      if (retries.length > 0) throw new TooSoon(Math.max(...retries));
    });
    return 0;
  } catch (error) {
    if (error instanceof TooSoon) return Math.max(1, Math.ceil((error.retryAt - now) / 1000));
    throw error;
  }
}

/** The password was right: the account starts anew from this address, and the address is rid of this one attempt. */
export async function forgiveAttempt(database: Database, attempt: Attempt, now: number): Promise<void> {
  const { address, account } = keysOf(attempt);
  await database.transaction(async (em) => {
    const retryAt = new Date(now).toISOString();
    await em.execute('update oauth_sign_in_attempt set failures = failures - 1, retry_at = ? where key = ?', [
      retryAt,
      address,
    ]);
    await em.nativeDelete(SignInAttempt, { key: account });
  });
}

/** Null when it was counted, else when the next one will be. */
async function count(em: EntityManager, key: string, longest: number, now: number): Promise<number | null> {
  const at = new Date(now).toISOString();
  const counted = await em.execute(
    `insert into oauth_sign_in_attempt as attempt (key, failures, retry_at, expires_at)
      values (?, 1, ?::timestamptz, ?::timestamptz + make_interval(secs => ?))
      on conflict (key) do update set
        failures = case when attempt.expires_at <= ? then 1 else attempt.failures + 1 end,
        retry_at = case when attempt.expires_at > ? and attempt.failures + 1 >= ?
          then ?::timestamptz + make_interval(secs => least(power(2, least(attempt.failures + 1 - ?, 20)), ?))
          else ?::timestamptz end,
        expires_at = excluded.expires_at
      where attempt.retry_at <= ? or attempt.expires_at <= ?
      returning failures`,
    [key, at, at, MEMORY_SECONDS, at, at, FREE_FAILURES, at, FREE_FAILURES, longest, at, at, at],
  );
  if (counted.length > 0) return null;
  const { retryAt } = await em.findOneOrFail(SignInAttempt, { key });
  return Date.parse(retryAt);
}

function keysOf({ address, email }: Attempt): { address: string; account: string } {
  const network = networkOf(address);
  return { address: digestOf(network), account: digestOf(`${network} ${email}`) };
}

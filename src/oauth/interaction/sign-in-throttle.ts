import type { EntityManager } from '@mikro-orm/postgresql';
import { SignInAttempt } from '../../../entities/sign-in-attempt.entity.ts';
import type { Database } from '../../database/database.ts';
import { toNetwork } from '../../shared/network.ts';
import { hashSecret } from '../../shared/secrets.ts';
import type { AccountKind } from './sessions.ts';

/** Number of failures after which attempts are delayed. OAU-27. */
const MAX_UNDELAYED_FAILURES = 10;

/** Maximum delay in seconds: of one address for one account, and of one address for all accounts. */
const MAX_DELAY_SECONDS = { account: 900, address: 60 };

/** Maximum seconds that failures of one account from all addresses delay an attempt. OAU-27. */
const MAX_SHARED_DELAY_SECONDS = 30;

/** Seconds after the last failure at which the counter expires. */
const COUNTER_TTL_SECONDS = 3600;

/** Address and account that sign-in attempts are counted by. */
export interface SignInAttemptKey {
  address: string;
  /** In its comparable form. */
  email: string;
  /** Failures as a user of builders do not delay a staff user's sign-in, and the reverse. */
  kind: AccountKind;
  /** Identifies the browser. */
  browserId: string;
}

/** Rolls the transaction back, so that an attempt before `retryAt` is not counted. */
class ThrottledError extends Error {
  constructor(readonly retryAt: number) {
    super('Sign-in throttled');
  }
}

/**
 * Counts the attempt as a failure before its password is checked, so that concurrent attempts cannot bypass the limit.
 * Returns the seconds to wait, or 0 when the attempt may proceed. Delays apply per address, so that an attacker cannot lock
 * the account's owner out.
 */
export async function countAttempt(database: Database, attempt: SignInAttemptKey, now: number): Promise<number> {
  const { address, account } = toKeys(attempt);
  try {
    await database.transaction(async (em) => {
      const retries = [
        await incrementFailures(em, address, MAX_DELAY_SECONDS.address, now),
        await incrementFailures(em, account, MAX_DELAY_SECONDS.account, now),
      ].filter((retryAt) => retryAt !== null);
      if (retries.length > 0) throw new ThrottledError(Math.max(...retries));
    });
    return 0;
  } catch (error) {
    if (error instanceof ThrottledError) return Math.max(1, Math.ceil((error.retryAt - now) / 1000));
    throw error;
  }
}

/**
 * Counts the attempt for the account, from whichever address. Returns the seconds that this browser has to wait, or 0 when its attempt may
 * proceed: a browser that has waited is checked, however many others try, so that nobody locks the account's owner out. An address with as
 * many failures of its own waits longer anyway.
 */
export async function delayAttempt(database: Database, attempt: SignInAttemptKey, now: number): Promise<number> {
  const { account, shared, browser } = toKeys(attempt);
  const em = database.fork();
  const at = new Date(now).toISOString();
  const [counted] = await em.execute<{ failures: number }[]>(
    `insert into oauth_sign_in_attempt as attempt (key, failures, retry_at, expires_at)
      values (?, 1, ?, ?::timestamptz + make_interval(secs => ?))
      on conflict (key) do update set expires_at = excluded.expires_at,
        failures = case when attempt.expires_at <= ? then 1 else attempt.failures + 1 end
      returning failures`,
    [shared, at, at, COUNTER_TTL_SECONDS, at],
  );
  const excess = counted!.failures - MAX_UNDELAYED_FAILURES;
  if (excess <= 0) return 0;
  const isDelayedItself = { key: account, failures: { $gte: MAX_UNDELAYED_FAILURES }, expiresAt: { $gt: at } };
  if (await em.count(SignInAttempt, isDelayedItself)) return 0;
  const delay = Math.min(2 ** Math.min(excess, 10), MAX_SHARED_DELAY_SECONDS);
  const [waiting] = await em.execute<{ seconds: string }[]>(
    `insert into oauth_sign_in_attempt as attempt (key, failures, retry_at, expires_at)
      values (?, 0, ?::timestamptz + make_interval(secs => ?), ?::timestamptz + make_interval(secs => ?))
      on conflict (key) do update set failures = 0
      returning extract(epoch from retry_at - ?::timestamptz) as seconds`,
    [browser, at, delay, at, COUNTER_TTL_SECONDS, at],
  );
  const seconds = Math.ceil(Number(waiting!.seconds));
  if (seconds > 0) return seconds;
  await em.nativeDelete(SignInAttempt, { key: browser });
  return 0;
}

/** After a correct password: deletes the account's counter for this address and uncounts this attempt of the address. */
export async function clearAttempt(database: Database, attempt: SignInAttemptKey, now: number): Promise<void> {
  const { address, account, shared } = toKeys(attempt);
  await database.transaction(async (em) => {
    await em.execute('update oauth_sign_in_attempt set failures = greatest(failures - 1, 0) where key = ?', [shared]);
    const retryAt = new Date(now).toISOString();
    await em.execute('update oauth_sign_in_attempt set failures = failures - 1, retry_at = ? where key = ?', [
      retryAt,
      address,
    ]);
    await em.nativeDelete(SignInAttempt, { key: account });
  });
}

/** Returns null after counting the failure, else the instant, in milliseconds, at which the next attempt is allowed. */
async function incrementFailures(
  em: EntityManager,
  key: string,
  maxDelaySeconds: number,
  now: number,
): Promise<number | null> {
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
    [
      key,
      at,
      at,
      COUNTER_TTL_SECONDS,
      at,
      at,
      MAX_UNDELAYED_FAILURES,
      at,
      MAX_UNDELAYED_FAILURES,
      maxDelaySeconds,
      at,
      at,
      at,
    ],
  );
  if (counted.length > 0) return null;
  const { retryAt } = await em.findOneOrFail(SignInAttempt, { key });
  return Date.parse(retryAt);
}

function toKeys({ address, email, kind, browserId }: SignInAttemptKey) {
  const network = kind === 'user' ? toNetwork(address) : `${kind} ${toNetwork(address)}`;
  return {
    address: hashSecret(network),
    account: hashSecret(`${network} ${email}`),
    shared: hashSecret(`${kind} account ${email}`),
    browser: hashSecret(`${kind} browser ${browserId} ${email}`),
  };
}

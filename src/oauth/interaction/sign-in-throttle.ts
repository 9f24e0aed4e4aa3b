import { raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { SignInAttempt } from '../../../entities/sign-in-attempt.entity.ts';
import type { Database } from '../../database/database.ts';
import { lockRow } from '../../domain/change-context.ts';
import { toNetwork } from '../../network/client-network.ts';
import { hashSecret } from '../../shared/secrets.ts';
import type { AccountKind } from './sessions.ts';

/** Number of failures after which attempts are delayed. OAU-27. */
const MAX_UNDELAYED_FAILURES = 10;

/** Maximum delay in seconds: of one address for one account, and of one address for all accounts. */
const MAX_DELAY_SECONDS = { account: 900, address: 60 };

/** Seconds between attempts of one address while an account has more failures from all addresses than are undelayed. OAU-27. */
const SHARED_DELAY_SECONDS = 30;

/** Milliseconds after the last failure at which the counter expires. */
const COUNTER_TTL_MS = 3_600_000;

/** What sign-in attempts are counted by. */
export interface SignInAttemptFacts {
  address: string;
  /** In its comparable form. */
  email: string;
  /** Failures as a user of builders do not delay a staff user's sign-in, and the reverse. */
  kind: AccountKind;
  /** Whether failures of other addresses do not delay the attempt. */
  isKnownBrowser: boolean;
}

/** Rolls the transaction back, so that an attempt before `retryAt` is not counted. The first wait of an address is stored. */
class ThrottledError extends Error {
  constructor(readonly retryAt: number) {
    super('Sign-in throttled');
  }
}

/**
 * Counts the attempt as a failure before its password is checked, so that concurrent attempts cannot bypass the limit.
 * Returns the seconds to wait, or 0 when the attempt may proceed. Delays apply per address, so that an attacker cannot lock
 * the account's owner out: while many fail for one account, each address has one attempt in 30 seconds, and waits for its first.
 */
export async function admitAttempt(database: Database, attempt: SignInAttemptFacts, now: number): Promise<number> {
  const { address, networkAndAccount, account } = toKeys(attempt);
  try {
    return await database.transaction(async (em) => {
      const delay = attempt.isKnownBrowser ? 0 : await countSharedAttempt(em, account, now);
      const forAccount = await countFailure(em, networkAndAccount, { delay, maxDelay: MAX_DELAY_SECONDS.account }, now);
      if (forAccount.failures === 0) return toSeconds(forAccount.retryAt - now);
      const forAddress = await countFailure(em, address, { delay: 0, maxDelay: MAX_DELAY_SECONDS.address }, now);
      const retryAt = Math.max(forAccount.retryAt, forAddress.retryAt);
      if (retryAt > now) throw new ThrottledError(retryAt);
      return 0;
    });
  } catch (error) {
    if (error instanceof ThrottledError) return toSeconds(error.retryAt - now);
    throw error;
  }
}

/** Counts the attempt for the account, from whichever address. Returns the seconds between attempts of one address. */
async function countSharedAttempt(em: EntityManager, key: string, now: number): Promise<number> {
  const failures = (await lockCounter(em, key, now)).failures + 1;
  await em.nativeUpdate(SignInAttempt, { key }, { failures, expiresAt: toInstant(now + COUNTER_TTL_MS) });
  return failures > MAX_UNDELAYED_FAILURES ? SHARED_DELAY_SECONDS : 0;
}

/** After a correct password: deletes the account's counter for this address, and uncounts this attempt where `admitAttempt` counted it. */
export async function clearAttempt(database: Database, attempt: SignInAttemptFacts, now: number): Promise<void> {
  const { address, networkAndAccount, account } = toKeys(attempt);
  await database.transaction(async (em) => {
    const fewer = { failures: raw('greatest(failures - 1, 0)') };
    if (!attempt.isKnownBrowser) await em.nativeUpdate(SignInAttempt, { key: account }, fewer);
    const uncounted = { failures: raw('failures - 1'), retryAt: toInstant(now) };
    await em.nativeUpdate(SignInAttempt, { key: address }, uncounted);
    await em.nativeDelete(SignInAttempt, { key: networkAndAccount });
  });
}

/**
 * Counts a failure, unless the address has to wait until `retryAt`. Returns the number of failures: 0 while the address waits for its first
 * attempt.
 *
 * @param limits.delay Minimum seconds between attempts, and before the first.
 */
async function countFailure(
  em: EntityManager,
  key: string,
  { delay, maxDelay }: { delay: number; maxDelay: number },
  now: number,
): Promise<{ failures: number; retryAt: number }> {
  const counter = await lockCounter(em, key, now);
  const retryAt = counter.lastAt === null ? now : Math.max(counter.retryAt, counter.lastAt + delay * 1000);
  if (retryAt > now) return { failures: counter.failures, retryAt };
  const failures = counter.lastAt === null && delay > 0 ? 0 : counter.failures + 1;
  const ownDelay = failures < MAX_UNDELAYED_FAILURES ? 0 : Math.min(2 ** (failures - MAX_UNDELAYED_FAILURES), maxDelay);
  const nextAt = now + Math.max(delay, ownDelay) * 1000;
  const change = { failures, retryAt: toInstant(nextAt), expiresAt: toInstant(now + COUNTER_TTL_MS) };
  await em.nativeUpdate(SignInAttempt, { key }, change);
  return { failures, retryAt: failures === 0 ? nextAt : now };
}

/** Locks the counter, which is made if it is missing. `lastAt` is when it was counted last; null for one that has expired. */
async function lockCounter(em: EntityManager, key: string, now: number) {
  const counter = { key, failures: 0, retryAt: toInstant(now), expiresAt: toInstant(now) };
  await em.createQueryBuilder(SignInAttempt).insert(counter).onConflict().ignore().execute('run');
  const row = (await lockRow(em, SignInAttempt, { key }))!;
  const expiresAt = Date.parse(row.expiresAt);
  return expiresAt <= now
    ? { failures: 0, retryAt: now, lastAt: null }
    : { failures: row.failures, retryAt: Date.parse(row.retryAt), lastAt: expiresAt - COUNTER_TTL_MS };
}

const toSeconds = (milliseconds: number) => Math.max(1, Math.ceil(milliseconds / 1000));
const toInstant = (milliseconds: number) => new Date(milliseconds).toISOString();

function toKeys({ address, email, kind }: SignInAttemptFacts) {
  const network = kind === 'user' ? toNetwork(address) : `${kind} ${toNetwork(address)}`;
  return {
    address: hashSecret(network),
    networkAndAccount: hashSecret(`${network} ${email}`),
    account: hashSecret(`${kind} account ${email}`),
  };
}

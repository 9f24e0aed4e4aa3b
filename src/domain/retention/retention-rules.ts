import type { EntityManager } from '@mikro-orm/postgresql';
import { MIN_AUDIT_DAYS, purgeAuditLog } from '../audit/maintain-audit-log.ts';
import { RETENTION_DAYS as IDEMPOTENCY_DAYS } from '../create-once.ts';
import { RETENTION_DAYS as EVENT_DAYS } from '../events/retention.job.ts';
import { LOG_DAYS } from '../request-log/read-request-log.ts';

/** What is deleted by itself, and when. */
export interface RetentionRule {
  /** The deleted data, for the documentation. */
  data: string;
  /** What the time begins with, for the documentation. */
  since: string;
  /** Days after that until the data is deleted. */
  days: number;
  /** The part of the service that deletes it, where it is not the purge job. */
  by?: 'sweep' | 'rate limiter' | 'event retention' | 'snapshots';
  /**
   * Statement of the purge job, in which `:now` is the current instant and `:before` the one `days` earlier, or a function that returns the
   * number of deleted rows. SQL: it deletes many rows that it need not read, by conditions on other tables.
   */
  purge?: string | ((em: EntityManager, before: string) => Promise<number>);
}

/** Rows of one batch of a table that may have accumulated many. The purge job repeats a rule whose batch is full. */
export const MAX_ROWS = 10_000;

/** One more than the audit log requires. */
const AUDIT_DAYS = MIN_AUDIT_DAYS + 1;

/** By the clock of the database too, which the audit log checks. */
async function purgeAudit(em: EntityManager, before: string): Promise<number> {
  const [row] = await em.execute<{ instant: string }[]>(
    `select least(?::timestamptz, clock_timestamp() - interval '${AUDIT_DAYS} days')::text as instant`,
    [before],
  );
  return purgeAuditLog(em, row!.instant, MAX_ROWS);
}

/** Returns the rule of a table whose rows have a time of expiry. */
const afterExpiry = (table: string, data: string, since = 'expiry', days = 0) => ({
  data,
  since,
  days,
  purge: `delete from ${table} where expires_at < :before`,
});

/** Lifetime of a refresh token in days. OAU-32. */
export const REFRESH_TOKEN_DAYS = 30;

/**
 * Everything that the service deletes by itself. To delete more, add a rule: the purge job executes its statement every ten minutes, and
 * `npx vitest run test/docs/personal-data.test.ts -u` adds it to docs/personal-data.md.
 */
export const RETENTION_RULES = {
  // Codes and refresh tokens are deleted with their family; until then reuse of them is detected. A family whose code was
  // never used has no tokens and is deleted at expiry.
  families: {
    data: 'Authorisations of applications, with their codes and refresh tokens',
    since: 'expiry of the last token; at once for a code that was never used',
    days: REFRESH_TOKEN_DAYS,
    purge: `delete from oauth_token_family family where family.expires_at < :before
      or (family.expires_at < :now and family.revoked_at is null
        and exists (select from oauth_authorization_code code where code.family_id = family.id and code.used_at is null))`,
  },
  // Of families that are still in use.
  refreshTokens: afterExpiry('oauth_refresh_token', 'Refresh tokens that were replaced', 'expiry', REFRESH_TOKEN_DAYS),
  // A day later: an instance whose clock is behind accepts tokens after their expiry by the database's clock.
  revokedTokens: afterExpiry('oauth_revoked_token', 'Identifiers of revoked access tokens', 'expiry of the token', 1),
  passwordLinks: afterExpiry('password_link', 'Links for choosing a password, by digest'),
  sessions: afterExpiry('oauth_session', 'Sessions of users'),
  consoleSessions: afterExpiry('console_session', 'Sessions of staff users in the console'),
  usage: {
    data: 'Numbers of requests by client, operation and day',
    since: 'the day',
    days: 400,
    purge: 'delete from usage_day where date < (:before)::timestamptz::date',
  },
  // By whole days, which are counted together with those of `usage`.
  requestLog: {
    data: 'Requests that failed',
    since: 'the end of their day',
    days: LOG_DAYS,
    purge: `delete from request_log where id in (select id from request_log
      where at < date_trunc('day', (:before)::timestamptz) order by at limit ${MAX_ROWS})`,
  },
  attempts: afterExpiry(
    'oauth_sign_in_attempt',
    'Failed sign-ins, by digest of address and account',
    'end of the delay that they cause',
  ),
  budgets: {
    data: 'Counters of rate limits, by client or address',
    since: 'a minute after the end of their window',
    days: 0,
    by: 'rate limiter',
  },
  idempotencyKeys: {
    data: 'Idempotency keys, by digest',
    since: 'the creation of the record',
    days: IDEMPOTENCY_DAYS,
    purge: `delete from idempotency_key where digest in
      (select digest from idempotency_key where created_at < :before order by created_at limit ${MAX_ROWS})`,
  },
  conflicts: {
    data: 'Gate events that were refused with 409',
    since: 'the last repetition',
    days: 365,
    purge: `delete from sign_on_conflict where id in
      (select id from sign_on_conflict where updated_at < :before order by id limit ${MAX_ROWS})`,
  },
  audit: { data: 'Entries of the audit log', since: 'the entry', days: AUDIT_DAYS, purge: purgeAudit },
  events: { data: 'Events of the change feed', since: 'the end of their day', days: EVENT_DAYS, by: 'event retention' },
  deliveries: {
    data: 'Deliveries to webhook endpoints',
    since: 'their creation',
    days: 30,
    purge: `delete from webhook_delivery where id in (select id from webhook_delivery
      where created_at < :before and status <> 'PENDING' order by created_at limit ${MAX_ROWS})`,
  },
  deletedDeliveries: {
    data: 'Deliveries to deleted webhook endpoints',
    since: 'the deletion',
    days: 0,
    purge: `delete from webhook_delivery where id in (select delivery.id from webhook_delivery delivery
      join webhook_endpoint endpoint on endpoint.id = delivery.endpoint_id where endpoint.deleted_at is not null limit ${MAX_ROWS})`,
  },
  // Behind their deliveries.
  endpoints: {
    data: 'Deleted webhook endpoints',
    since: 'the deletion',
    days: 0,
    purge: `delete from webhook_endpoint endpoint where deleted_at is not null
      and not exists (select from webhook_delivery where endpoint_id = endpoint.id)`,
  },
  snapshotFiles: {
    data: "Files of snapshots of a builder's records",
    since: 'the completion',
    days: 1,
    by: 'snapshots',
  },
  // Those of the last day count against the limit of a day.
  snapshots: {
    data: "Snapshots of a builder's records, without their files",
    since: 'the request',
    days: 7,
    purge: 'delete from snapshot where created_at < :before and finished_at is not null and not has_files',
  },
  uploads: { data: 'Uploads that no photo uses, with their bytes', since: 'the announcement', days: 7, by: 'sweep' },
  objects: { data: 'Stored files that no record uses', since: 'the last change', days: 1, by: 'sweep' },
  temporaryFiles: { data: 'Temporary files of interrupted requests', since: 'the last change', days: 1, by: 'sweep' },
} as const satisfies Record<string, RetentionRule>;

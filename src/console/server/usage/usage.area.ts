import {
  readRejections,
  readUsageByDay,
  readUsageOf,
  type UsageRange,
} from '../../../domain/request-log/read-usage.ts';
import { invalidField } from '../../../shared/errors.ts';
import type { ConsoleArea } from '../console-area.ts';
import { loadBatched } from '../load-batched.ts';
import { toLimit } from '../page.ts';
import { usageTypes } from './usage.schema.ts';

const MAX_DAYS = 400;

/** Throws 400 for a range of no days or of too many. */
function requireFewDays({ since, until }: UsageRange): void {
  const days = (Date.parse(until) - Date.parse(since)) / 86_400_000 + 1;
  if (days < 1 || days > MAX_DAYS) throw invalidField('until', `must be at most ${MAX_DAYS} days after since`);
}

/** Requests of integrators. */
export const usageArea: ConsoleArea = {
  types: usageTypes,
  queries: {
    usageByDay: {
      action: 'access.read',
      maxRecords: MAX_DAYS,
      resolve(_, { integratorId = null, ...range }, { database }) {
        requireFewDays(range);
        return readUsageByDay(database.onReplica(), range, integratorId);
      },
    },
    rejections: {
      action: 'access.read',
      resolve: (_, { integratorId = null, code = null, limit }, { database }) =>
        readRejections(database, { integratorId, code, limit: toLimit(limit) }),
    },
  },
  fields: {
    Integrator: {
      usage({ integratorId }: { integratorId: string }, range: UsageRange, context) {
        requireFewDays(range);
        return loadBatched(context, `usage ${range.since} ${range.until}`, integratorId, (database, ids) =>
          readUsageOf(database.onReplica(), ids, range),
        );
      },
    },
  },
};

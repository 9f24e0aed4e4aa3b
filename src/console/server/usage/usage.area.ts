import { MAX_USAGE_ROWS, readRejections, readUsage } from '../../../domain/usage/read-usage.ts';
import { invalidField } from '../../../shared/errors.ts';
import type { ConsoleArea } from '../console-area.ts';
import { toLimit } from '../page.ts';
import { usageTypes } from './usage.schema.ts';

const MAX_DAYS = 400;

/** Requests of integrators. */
export const usageArea: ConsoleArea = {
  types: usageTypes,
  queries: {
    usage: {
      action: 'access.read',
      maxRecords: MAX_USAGE_ROWS,
      resolve(_, { since, until, integratorId = null }, { database }) {
        const days = (Date.parse(until) - Date.parse(since)) / 86_400_000 + 1;
        if (days < 1 || days > MAX_DAYS) throw invalidField('until', `must be at most ${MAX_DAYS} days after since`);
        return readUsage(database.onReplica(), { since, until, integratorId });
      },
    },
    rejections: {
      action: 'access.read',
      resolve: (_, { integratorId = null, code = null, limit }, { database }) =>
        readRejections(database, { integratorId, code, limit: toLimit(limit) }),
    },
  },
};

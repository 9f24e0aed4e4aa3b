import { REGIONS } from '../shared/regions.ts';

/** PostgreSQL connections of one process to one region, by use. */
export interface ConnectionSplit {
  /** Pipelined connections for prepared reads. */
  reads: number;
  /** Further ones that are used only while those are stalled. */
  readReserve: number;
  /** Pipelined connections for slow reads. */
  slowReads: number;
  /** Pipelined connections for the numbering of events, the deliveries of webhooks and polls of the console, which no request delays. */
  background: number;
  /** Connections for transactions of prepared statements. */
  writes: number;
  /** Connections for transactions of MikroORM. */
  orm: number;
}

/** Connections of one process to both regions. */
export const DEFAULT_CONNECTIONS = 72;

/** With fewer, a pool of transactions would have less than three connections. */
export const MIN_CONNECTIONS = 24;

/** More pipelined connections do not make reads faster: each carries many statements at once. */
const READS = 2;
const MAX_EXTRA = 4;
const BACKGROUND = 2;

/** Divides the connections of a process: an equal part for each region, of which transactions receive what reads do not need. */
export function splitConnections(total: number = DEFAULT_CONNECTIONS): ConnectionSplit {
  const perRegion = Math.floor(total / REGIONS.length);
  const extra = Math.min(MAX_EXTRA, Math.max(1, Math.floor(perRegion / 8)));
  const transactions = perRegion - READS - 2 * extra - BACKGROUND;
  const writes = Math.ceil(transactions / 2);
  return {
    reads: READS,
    readReserve: extra,
    slowReads: extra,
    background: BACKGROUND,
    writes,
    orm: transactions - writes,
  };
}

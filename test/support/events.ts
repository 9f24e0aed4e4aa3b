import type { Database } from '../../src/database/database.ts';
import { numberEvents } from '../../src/domain/events/event-log.ts';

/** Numbers all pending events of a database. Retries while another process holds the lock of the sequence. */
export async function numberPendingEvents(database: Database): Promise<void> {
  while ((await numberEvents(database)) !== 0);
}

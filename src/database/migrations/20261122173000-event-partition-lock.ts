import { Migration } from '@mikro-orm/migrations';
import { toPartitionFunction } from './20261122125638-event-log.ts';

/** Lets two processes create the partition of one day at the same time: the second waits for the first. */
export class Migration20261122173000EventPartitionLock extends Migration {
  override name = 'Migration20261122173000EventPartitionLock';

  override up(): void {
    // The catalogue is queried again behind the lock: to_regclass answers from a cache that waiting does not renew.
    this.addSql(
      toPartitionFunction(`perform pg_advisory_xact_lock(hashtextextended('create ' || name, 0));
          if exists (select from pg_class where relname = name and relnamespace = 'public'::regnamespace) then return; end if;`),
    );
  }

  override down(): void {
    this.addSql(toPartitionFunction());
  }
}

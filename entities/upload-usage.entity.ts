import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { declareChangeTriggers } from './change-triggers.ts';
import { PersonalData } from './personal-data.ts';

/**
 * Bytes of an integrator's unused uploads, stored or announced, as changes to sum: a single counter row would serialise writers and
 * deadlock with the locks of folders. Triggers append the changes; the next upload compacts them.
 */
@Entity()
@PersonalData<UploadUsage>({ none: ['integratorId'] })
@Index({ properties: ['integratorId'] })
export class UploadUsage {
  @PrimaryKey({ type: 'bigint', autoincrement: true })
  id!: string;

  /** Empty for internal clients. */
  @Property({ type: 'text' })
  integratorId!: string;

  @Property({ type: 'bigint' })
  bytes!: string;
}

/** Appends the change of each write of an upload to `UploadUsage`. A migration creates the function of the triggers. */
export function CountsUploadBytes(owner: new () => object): void {
  const key = (row: string) => `(${row}.consumed_at is null and ${row}.released_at is null)`;
  declareChangeTriggers(owner, { table: 'upload', prefix: 'upload_usage', procedure: 'upload_usage_change', key });
}

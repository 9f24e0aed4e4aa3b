import { Entity, Index, PrimaryKey, Property, Trigger } from '@mikro-orm/decorators/legacy';

/**
 * Bytes that an integrator's unused uploads take or announce, as changes to be added up: a counter would make writers wait for
 * each other, and deadlock with the locks of folders. Triggers append the changes; the next upload adds them up.
 */
@Entity()
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

const COUNTS = (row: string) => `(${row}.consumed_at is null and ${row}.released_at is null)`;

const SCOPES = {
  insert: 'referencing new table as changed for each statement',
  delete: 'referencing old table as changed for each statement',
  update: `for each row when (${COUNTS('old')} is distinct from ${COUNTS('new')})`,
};

/** Appends to `UploadUsage` what each write of an upload changes. A migration makes the function `upload_usage_change`. */
export function CountsUploadBytes(owner: new () => object): void {
  for (const [event, scope] of Object.entries(SCOPES)) {
    const name = `upload_usage_${event}`;
    const expression = `create trigger "${name}" after ${event} on "upload" ${scope} execute function "upload_usage_change"()`;
    Trigger({ name, timing: 'after', events: [event as keyof typeof SCOPES], forEach: 'statement', expression })(owner);
  }
}

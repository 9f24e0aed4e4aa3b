import { Entity, Enum, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Builder } from './builder.entity.ts';
import { Reference, SerialId, SqlTrigger, Timestamped } from './columns.ts';
import { Integrator } from './integrator.entity.ts';
import { PersonalData } from './personal-data.ts';

export const ConnectionStatus = { ACTIVE: 'ACTIVE', REVOKED: 'REVOKED' } as const;
export type ConnectionStatus = keyof typeof ConnectionStatus;

/** An integrator's access to a builder's data, with the scopes that the builder allows. ACC-2. */
@Entity()
@PersonalData<Connection>({ none: ['scopes'] })
@SqlTrigger(`create trigger "connection_reactivated" before update on "connection" for each row
    when (old.status <> 'ACTIVE' and new.status = 'ACTIVE') execute function public.set_active_after()`)
@SqlTrigger(`create trigger "connection_revoked" after update on "connection" for each row
    when (old.status = 'ACTIVE' and new.status <> 'ACTIVE') execute function public.connection_revoked()`)
@Unique({ properties: ['integratorId', 'builderId'] })
export class Connection extends Timestamped {
  @SerialId()
  id!: number;

  @Reference(() => Integrator)
  integratorId!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Enum({ items: () => ConnectionStatus })
  status!: ConnectionStatus;

  @Property({ type: 'text[]' })
  scopes!: string[];

  /** Number of the last event when it was last reactivated; null if it never was. Webhooks deliver no earlier events (WHK-7). */
  @Property({ type: 'bigint', nullable: true })
  activeAfter!: string | null;
}

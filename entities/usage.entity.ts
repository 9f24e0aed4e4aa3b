import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Instant, LargeSerialId, Reference } from './columns.ts';
import { Integrator } from './integrator.entity.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PersonalData } from './personal-data.ts';

/** Number of an integrator's requests on one day, which every process adds its counts to (CON-10). */
@Entity()
@Index({ properties: ['date'] })
export class UsageDay {
  @Reference(() => Integrator, { primary: true })
  integratorId!: string;

  /** In UTC. */
  @Property({ type: 'date', primary: true })
  date!: string;

  @Property({ type: 'integer' })
  requests!: number;

  /** Responses with a status of 500 or more. */
  @Property({ type: 'integer' })
  errors!: number;

  /** Responses that rejected the request, with a status of 400 to 499 or GraphQL errors of these. */
  @Property({ type: 'integer' })
  rejections!: number;
}

/** A rejected request of an integrator. The latest of each integrator are kept (CON-11). */
@Entity()
@PersonalData<Rejection>({ none: ['operation', 'code', 'reason', 'requestId'] })
@Index({ properties: ['integratorId', 'id'] })
export class Rejection {
  @LargeSerialId()
  id!: number;

  @Instant()
  at!: string;

  @Reference(() => Integrator)
  integratorId!: string;

  @Reference(() => OAuthClient)
  clientId!: string;

  /** Route or GraphQL operation. */
  @Property({ type: 'text' })
  operation!: string;

  @Property({ type: 'integer' })
  status!: number;

  @Property({ type: 'text' })
  code!: string;

  /** In words. */
  @Property({ type: 'text' })
  reason!: string;

  @Property({ type: 'text' })
  requestId!: string;
}

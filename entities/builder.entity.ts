import { Property } from '@mikro-orm/decorators/legacy';
import { Field } from 'type-graphql';
import { GraphOnly } from '../schema/rest.ts';
import { BuilderId } from '../schema/scalars.ts';
import { TimeZone } from '../schema/time-zone.ts';
import { FileKeyPrefix, IdField, TextField, Tracked } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';

/** A construction company. Every builder-scoped record belongs to one (RED-3). */
@EntityType({ scope: 'read:builders', description: 'A construction company.' })
@FileKeyPrefix({ table: 'builder', column: 'logo_key', prefix: 'logos', owner: 'id' })
@PersonalData<Builder>({ none: ['timeZone'], mentions: ['name'], addresses: ['logoKey'] })
@Publishes('builder', 'builder', { path: '/builders/{id}', builder: 'id' })
export class Builder extends Tracked {
  @IdField(() => BuilderId, { description: 'Identifies the builder in paths and in `X-Service-Builder-Id`.' })
  id!: string;

  @TextField({ description: 'Name of the company.' })
  name!: string;

  /** Key of the logo in the storage. */
  @Property({ type: 'text', nullable: true })
  logoKey!: string | null;

  @Field(() => TimeZone, { description: 'Time zone of the builder, which the console and report pages use.' })
  @GraphOnly()
  /** Null: the time zone of the region, which GraphQL returns instead (RED-30). */
  @Property({ type: 'text', nullable: true })
  timeZone?: string | null;
}

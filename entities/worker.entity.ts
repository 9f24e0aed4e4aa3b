import { Index } from '@mikro-orm/decorators/legacy';
import { WorkerId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangesRoster } from './change-list.ts';
import { IdField, ListIndex, Reference, SearchIndex, TextField, Tracked } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';
import { Subcontractor } from './subcontractor.entity.ts';

/** A person who works on site for a subcontractor (RED-19). */
@EntityType({ scope: 'read:subcontractors', description: 'A person who works on site for a subcontractor.' })
@PersonalData<Worker>({ of: { worker: 'id' }, name: ['fullName'] })
@Publishes('worker', 'worker')
@ChangesRoster('worker', ['worker_id', 'id'], ['full_name', 'subcontractor_id'])
@ListIndex('subcontractorId')
@ListIndex('builderId')
@Index({ properties: ['builderId', 'fullName', 'id'] })
@SearchIndex('worker', 'full_name')
export class Worker extends Tracked {
  @IdField(() => WorkerId)
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @TextField()
  fullName!: string;
}

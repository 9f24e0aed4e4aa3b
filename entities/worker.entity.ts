import { Index } from '@mikro-orm/decorators/legacy';
import { WorkerId } from '../schema/scalars.ts';
import { ChangesRoster } from './change-list.ts';
import { IdField, ListIndex, SearchIndex, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';
import { SubcontractorRecord } from './subcontractor.entity.ts';

/** A person who works on site for a subcontractor (RED-19). */
@EntityType({ scope: 'read:subcontractors', description: 'A person who works on site for a subcontractor.' })
@PersonalData<Worker>({ of: { worker: 'id' }, name: ['fullName'] })
@Publishes('worker', 'worker')
@ChangesRoster('worker', ['worker_id', 'id'], ['full_name', 'subcontractor_id'])
@ListIndex('subcontractorId')
@ListIndex('builderId')
@Index({ properties: ['builderId', 'fullName', 'id'] })
@SearchIndex('worker', 'full_name')
export class Worker extends SubcontractorRecord {
  @IdField(() => WorkerId)
  id!: string;

  @TextField()
  fullName!: string;
}

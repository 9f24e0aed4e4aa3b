import { Entity } from '@mikro-orm/decorators/legacy';
import { ObjectType } from 'type-graphql';
import { Scoped } from '../schema/rest.ts';
import { WorkerId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { IdField, ListIndex, Reference, TextField, Timestamped } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { Subcontractor } from './subcontractor.entity.ts';

/** A person who works on site for a subcontractor (RED-19). */
@ObjectType({ description: 'A person who works on site for a subcontractor.', simpleResolvers: true })
@Scoped('read:subcontractors')
@Entity()
@PersonalData<Worker>({ of: { worker: 'id' }, name: ['fullName'] })
@ListIndex('subcontractorId')
export class Worker extends Timestamped {
  @IdField(() => WorkerId)
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;

  @TextField()
  fullName!: string;
}

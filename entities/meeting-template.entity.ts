import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { Scoped } from '../schema/rest.ts';
import { MeetingTemplateId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { IdField, Reference, TextField } from './columns.ts';
import { PersonalData } from './personal-data.ts';

@ObjectType({ description: 'A heading under which notes of a meeting are written.', simpleResolvers: true })
export class MeetingTemplateSection {
  @Field(() => String, { description: 'Unique within the template.' })
  id!: string;

  @Field(() => String)
  title!: string;
}

/** The sections that a builder's meetings of one kind are written in. */
@ObjectType({
  description: "The sections that a builder's meetings of one kind are written in.",
  simpleResolvers: true,
})
@Scoped('read:meetings')
@Entity()
@PersonalData<MeetingTemplate>({ mentions: ['name', 'sections'] })
@Index({ properties: ['builderId'] })
export class MeetingTemplate {
  @IdField(() => MeetingTemplateId)
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @TextField()
  name!: string;

  @Field(() => [MeetingTemplateSection])
  @Property({ type: 'jsonb', default: '[]' })
  sections!: MeetingTemplateSection[];
}

import { Index } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { MeetingTemplateId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { IdField, Reference, TextField } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';

@ObjectType({ description: 'A heading under which notes of a meeting are written.', simpleResolvers: true })
export class MeetingTemplateSection {
  @Field(() => String, { description: 'Unique within the template.' })
  id!: string;

  @Field(() => String)
  title!: string;
}

/** The sections that a builder's meetings of one kind are written in. */
@EntityType({
  scope: 'read:meetings',
  description: "The sections that a builder's meetings of one kind are written in.",
})
@PersonalData<MeetingTemplate>({ mentions: ['name', 'sections'] })
@Index({ properties: ['builderId'] })
export class MeetingTemplate {
  @IdField(() => MeetingTemplateId)
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @TextField()
  name!: string;

  @ColumnField(() => [MeetingTemplateSection], 'jsonb', { default: '[]' })
  sections!: MeetingTemplateSection[];
}

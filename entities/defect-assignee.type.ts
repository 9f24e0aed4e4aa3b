import { createUnionType, Field, ObjectType } from 'type-graphql';
import { AssigneeType } from '../schema/enums.ts';

/** Common fields of assignees. The id is text in each member, so that one selection fits all of them. */
@ObjectType({ simpleResolvers: true })
abstract class Assignee {
  @Field(() => AssigneeType, { description: 'Kind of assignee, which tells the members of the union apart.' })
  type!: AssigneeType;

  @Field(() => String, { description: 'Identifier as the platform gave it.' })
  id!: string;

  @Field(() => String, { description: 'Name of the person, company or tag.' })
  name!: string;
}

@ObjectType({ description: 'A person to whom a defect is assigned.', simpleResolvers: true })
class DefectUser extends Assignee {
  declare type: 'USER';
}

@ObjectType({ description: 'A company to which a defect is assigned.', simpleResolvers: true })
export class DefectCompany extends Assignee {
  declare type: 'COMPANY';
}

@ObjectType({ description: 'A tag to which a defect is assigned.', simpleResolvers: true })
class DefectTag extends Assignee {
  declare type: 'TAG';
}

const MEMBERS = { USER: DefectUser.name, COMPANY: DefectCompany.name, TAG: DefectTag.name };

/** The kinds of assignee of the contract (RED-29). */
export const DefectAssignee = createUnionType({
  name: 'DefectAssignee',
  description: 'An assignee of a defect.',
  types: () => [DefectUser, DefectCompany, DefectTag] as const,
  resolveType: ({ type }) => MEMBERS[type],
});
export type DefectAssignee = DefectUser | DefectCompany | DefectTag;

import {
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import type { JsonSchema } from '../../../schema/scalars.ts';
import type { Constants } from './schemas.ts';

/**
 * What stands in the examples where the type says too little: by type and field, by operation and argument, or by the name
 * alone. Null in an input leaves an optional field out.
 */
const VALUES: Record<string, unknown> = {
  abn: '53004085616',
  agenda: 'Crane lift plan, edge protection, deliveries for next week',
  builderLogoUrl: 'https://files.example.com/logos/harbour-and-stone.png?expires=1772437500&signature=5c1f0e',
  capturedEndedAt: '2026-03-02T07:58:00.000Z',
  capturedStartedAt: '2026-03-02T07:30:00.000Z',
  clientId: 'cli_a0mkq3v8t2n4c7x1p9r5w6yzb',
  companyId: '88213',
  costCode: '03-300 - Cast-in-place concrete',
  country: 'Australia',
  email: 'mia.tran@brightwire.example',
  endDate: '2026-03-31',
  externalSourceId: 'note-20260302-0730',
  fullName: 'Mia Tran',
  hours: 7.6,
  identifier: 42,
  logoUrl: 'https://files.example.com/logos/harbour-and-stone.png?expires=1772437500&signature=5c1f0e',
  name: 'Pier 7 Apartments',
  phone: '+61 2 5550 1234',
  postcode: '2007',
  profilePictureUrl: 'https://files.example.com/pictures/mia-tran.jpg?expires=1772437500&signature=9b2d47',
  role: 'PROJECT_MANAGER',
  scopes: ['read:builders', 'read:projects'],
  sourceApp: 'site-notes',
  sourceDeepLink: 'https://site-notes.example/notes/20260302-0730',
  sourceId: '4102',
  sourceWebLink: 'https://site-notes.example/notes/20260302-0730',
  startDate: '2026-03-01',
  state: 'NSW',
  street: '12 Wattle Street',
  suburb: 'Ultimo',
  summaryMarkdown: 'Crane lift on **Thursday**, exclusion zone from 6 am.',
  tags: ['electrical', 'high-voltage'],
  timeType: 'Ordinary',
  title: 'Weekly site meeting',
  updatedAt: '2026-03-04T01:12:45.120Z',
  'Builder.name': 'Harbour & Stone Constructions',
  'Contact.name': 'Mia Tran',
  'CostCode.code': '03-300',
  'CostCode.description': 'Cast-in-place concrete',
  'Defect.closedAt': null,
  'Defect.description': 'Hairline crack at the window reveal, about 400 mm.',
  'Defect.dueDate': '2026-03-20T00:00:00.000Z',
  'Defect.title': 'Crack in the render, level 3',
  'DefectUser.id': 'user_a0mkq3v8t2n4c7x1p9r5w6yzb',
  'DefectUser.name': 'Jack Nguyen',
  'DefectCompany.id': 'sub_a0mkq3v8t2n4c7x1p9r5w6yzb',
  'DefectCompany.name': 'Brightwire Electrical Pty Ltd',
  'DefectTag.id': 'tag_a0mkq3v8t2n4c7x1p9r5w6yzb',
  'DefectTag.name': 'Render',
  'Identity.email': null,
  'Identity.id': 'cli_a0mkq3v8t2n4c7x1p9r5w6yzb',
  'Identity.name': 'Site Notes production',
  'Identity.profilePictureUrl': null,
  'IdentityMembership.builderName': 'Harbour & Stone Constructions',
  'IdentityMembership.role': null,
  'InductionAnswer.name': 'Emergency contact',
  'InductionAnswer.type': 'phone',
  'InductionAnswer.value': 'Linh Tran, 0491 570 006',
  'Insurance.customType': null,
  'Insurance.expiry': '2026-12-31T00:00:00.000Z',
  'Insurance.name': 'Public liability 2026',
  'Insurance.url': 'https://files.example.com/insurances/public-liability-2026.pdf?expires=1772437500&signature=17aa3c',
  'Integration.type': 'procore',
  'Location.name': 'Level 3, east facade',
  'Meeting.meetingTitle': 'Weekly site meeting',
  'Meeting.name': 'Weekly site meeting',
  'Meeting.notes': 'Crane lift moved to Thursday.',
  'MeetingActionItem.text': 'Send the revised lift plan to the crane crew.',
  'MeetingNote.archivedAt': null,
  'MeetingNote.detailBlocks': [{ type: 'paragraph', text: 'Exclusion zone from 6 am.' }],
  'PageMeta.limit': 25,
  'PageMeta.offset': 0,
  'PageMeta.totalCount': 1,
  'PageMeta.totalPages': 1,
  'Prequalification.reviewComments': 'Please add the safety policy of this year.',
  'Project.status': 'IN_PROGRESS',
  'Subcontractor.name': 'Brightwire Electrical Pty Ltd',
  'Subcontractor.isBuilder': false,
  'Subcontractor.statuses': ['ACCEPTED', 'SWMS_UPLOADED'],
  'SubcontractorSummary.name': 'Brightwire Electrical Pty Ltd',
  'SwmsDocument.name': 'Working at heights',
  'SwmsDocument.url': 'https://files.example.com/swms/working-at-heights.pdf?expires=1772437500&signature=c04be2',
  'TimeType.name': 'Ordinary',
  'Timesheet.notes': 'Level 3 slab pour',
};

const BUILT_IN: Record<string, unknown> = { Boolean: true, Float: 1.5, ID: '1', Int: 1, String: 'text' };

/** Types whose own example would be the same for every field. */
const SAYS_LITTLE = new Set(['Float', 'Int', 'String', 'Timestamp', 'RangeStart', 'RangeEnd']);

interface Field {
  name: string;
  type: GraphQLType;
}

/** Examples of GraphQL types. Their values are valid against the schemas of the document; a test holds that. */
export class Examples {
  readonly #constants: Constants;
  /** Types that an example is being made of: one that holds itself is left out the second time. */
  readonly #within: string[] = [];

  constructor(constants: Constants) {
    this.#constants = constants;
  }

  /** @param owner name of the type or operation whose field or argument it is. */
  ofField(owner: string, field: Field): unknown {
    const own = `${owner}.${field.name}`;
    if (Object.hasOwn(VALUES, own)) return VALUES[own];
    const named = getNamedType(field.type);
    if (SAYS_LITTLE.has(named.name) && Object.hasOwn(VALUES, field.name)) return VALUES[field.name];
    return this.of(field.type);
  }

  of(type: GraphQLType): unknown {
    if (isNonNullType(type)) return this.of(type.ofType);
    if (isListType(type)) return this.#isWithin(type.ofType) ? [] : [this.of(type.ofType)];
    if (isScalarType(type)) return exampleOfScalar(type.extensions.jsonSchema, type.name);
    if (isEnumType(type)) return type.getValues()[0]!.name;
    if (isUnionType(type)) return this.of(type.getTypes()[0]!);
    if (isObjectType(type) || isInputObjectType(type)) {
      return this.fields(type.name, Object.values(type.getFields() as Record<string, Field>), isInputObjectType(type));
    }
    return null;
  }

  fields(owner: string, fields: readonly Field[], input: boolean): Record<string, unknown> {
    this.#within.push(owner);
    const constant = this.#constants.get(owner);
    const entries = fields
      .filter((field) => isNonNullType(field.type) || !this.#isWithin(field.type))
      .map(
        (field) => [field.name, field.name === constant?.field ? constant.value : this.ofField(owner, field)] as const,
      )
      .filter(([, value]) => !(input && value === null));
    this.#within.pop();
    return Object.fromEntries(entries);
  }

  #isWithin(type: GraphQLType): boolean {
    return this.#within.includes(getNamedType(type).name);
  }
}

/** Whether the example of this field is the one that stands for any text. */
export const isFallback = (example: unknown) => example === BUILT_IN.String;

function exampleOfScalar(schema: unknown, name: string): unknown {
  const { examples, type } = (schema ?? {}) as JsonSchema & { examples?: unknown[] };
  return examples?.[0] ?? (type === 'object' ? {} : BUILT_IN[name]);
}

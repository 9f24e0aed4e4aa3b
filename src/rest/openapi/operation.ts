import { type GraphQLField, type GraphQLInputField, type GraphQLSchema, getNamedType } from 'graphql';
import type { Outcome } from '../../../schema/rest.ts';
import type { Operation } from '../../../schema/route-table.ts';
import { type Placement, placementsOf } from '../variables.ts';
import type { Examples } from './examples.ts';
import { operationParameters } from './parameters.ts';
import { errorResponses, respond } from './responses.ts';
import type { Schemas } from './schemas.ts';
import { securityOf } from './security.ts';

const OUTCOMES: Record<Outcome, string> = {
  CREATED: 'Created.',
  ACCEPTED: 'Kept, and not applied yet.',
  REPLAYED: 'The same was sent before: nothing has changed, and this is what it led to.',
};

/** OpenAPI operation object of an operation of the route table. */
export function describeOperation(
  operation: Operation,
  schema: GraphQLSchema,
  parts: { schemas: Schemas; examples: Examples },
) {
  const root = operation.kind === 'Query' ? schema.getQueryType()! : schema.getMutationType()!;
  const field = root.getFields()[operation.field]!;
  const placements = placementsOf(operation, schema);
  const inBody = placements
    .filter(({ place }) => place === 'body' || place === 'bodyOrQuery')
    .map(({ argument }) => argument);
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: summaryOf(operation, field),
    description: descriptionOf(operation, field, isEither(placements)),
    ...(field.deprecationReason && { deprecated: true }),
    security: securityOf(operation.scope),
    parameters: operationParameters(operation, placements, parts.schemas, parts.examples),
    ...(inBody.length > 0 && { requestBody: requestBody(operation, inBody, parts, isEither(placements)) }),
    responses: <Record<string, object>>{
      ...successResponses(operation, field, parts),
      ...errorResponses({
        scoped: operation.scope !== null,
        hasResource: placements.some(({ place }) => place === 'path' || place === 'header'),
        hasBody: operation.method !== 'GET',
        conflicts: operation.conflicts,
        hasQuota: operation.tag === 'Attachments',
      }),
    },
  };
}

function requestBody(
  { field }: Operation,
  fields: readonly GraphQLInputField[],
  { schemas, examples }: { schemas: Schemas; examples: Examples },
  isOptional: boolean,
): object {
  const schema = schemas.inputObject(fields);
  return {
    required: 'required' in schema && !isOptional,
    content: {
      'application/json': {
        schema: schemas.add(`${capitalised(field)}Request`, schema),
        example: examples.fields(field, fields, true),
      },
    },
  };
}

function successResponses(
  { kind, status, outcomes }: Operation,
  field: GraphQLField<unknown, unknown>,
  { schemas, examples }: { schemas: Schemas; examples: Examples },
): Record<string, object> {
  const schema = schemas.of(field.type);
  const described = kind === 'Query' ? field : getNamedType(field.type);
  const usual = described.description ?? 'Done.';
  const other = Object.entries(outcomes) as [Outcome, number][];
  const reported = other.filter(([, code]) => code !== status).map(([outcome, code]) => [code, OUTCOMES[outcome]]);
  const descriptions = Object.fromEntries([[status, status === 201 ? OUTCOMES.CREATED : usual], ...reported]);
  return Object.fromEntries(
    Object.entries<string>(descriptions).map(([code, description]) => [
      code,
      respond(description, { schema, example: examples.of(field.type) }),
    ]),
  );
}

/** Whether the input may stand in the query in place of the body. */
const isEither = (placements: readonly Placement[]) => placements.some(({ place }) => place === 'bodyOrQuery');

const EITHER = 'The fields may stand in a JSON body or in the query; all required ones have to be in one of the two.';

function descriptionOf({ scope }: Operation, field: GraphQLField<unknown, unknown>, either: boolean): string {
  const access =
    scope === null ? 'Any valid access token will do; no scope is needed.' : `Needs the scope \`${scope}\`.`;
  return [field.description, either && EITHER, access].filter(Boolean).join('\n\n');
}

/** `List subcontractor SWMS`, `Get timesheet`, `Create meeting`: what the operation does, from the names in the schema. */
function summaryOf({ kind, field: name }: Operation, field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  if (kind === 'Mutation') return capitalised(words(name));
  return type.extensions.envelope ? `List ${words(name)}` : `Get ${words(type.name)}`;
}

/** `SwmsDocument` to `SWMS document`, `signOnEvent` to `sign-on event`. */
const words = (name: string) =>
  name
    .replace(/[A-Z]/g, (letter, at: number) => `${at > 0 ? ' ' : ''}${letter.toLowerCase()}`)
    .replace(/\bswms\b/g, 'SWMS')
    .replace(/\bsign (on|off)\b/g, 'sign-$1');

const capitalised = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`;

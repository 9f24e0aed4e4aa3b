import { type GraphQLField, type GraphQLInputField, type GraphQLSchema, getNamedType } from 'graphql';
import type { Outcome } from '../../../schema/rest.ts';
import type { Operation } from '../../../schema/route-table.ts';
import { getRootField, locateArguments } from '../input.ts';
import { createFieldsExample } from './examples.ts';
import { describeParameters } from './parameters.ts';
import { describeErrorResponses, describeJsonResponse, LIMIT_HEADERS } from './responses.ts';
import type { Schemas } from './schemas.ts';
import { describeSecurity } from './security.ts';

const OUTCOMES: Record<Outcome, string> = {
  CREATED: 'Created.',
  ACCEPTED: 'Stored, and waiting for its sign-on.',
  REPLAYED: 'A repeated request: nothing was changed, and the body is the earlier result.',
};

/** Returns the OpenAPI operation object of an operation of the route table. */
export function describeOperation(operation: Operation, schema: GraphQLSchema, schemas: Schemas) {
  const field = getRootField(operation, schema);
  const locations = locateArguments(operation, schema);
  const mayUseQuery = locations.some(({ location }) => location === 'bodyOrQuery');
  const inBody = locations
    .filter(({ location }) => location === 'body' || location === 'bodyOrQuery')
    .map(({ argument }) => argument);
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    ...(operation.extension && { 'x-extension': true }),
    summary: createSummary(operation, field),
    description: createDescription(operation, field, mayUseQuery),
    ...(field.deprecationReason && { deprecated: true }),
    security: describeSecurity(operation.scope, operation.clientCredentials),
    parameters: describeParameters(operation, locations, schemas),
    ...(inBody.length > 0 && { requestBody: requestBody(operation, inBody, schemas, mayUseQuery) }),
    responses: <Record<string, object>>{
      ...successResponses(operation, field, schemas),
      ...describeErrorResponses({
        hasScope: operation.scope !== null,
        hasResource: locations.some(({ location, argument }) => location === 'path' || argument.name === 'builderId'),
        hasBody: operation.method !== 'GET',
        conflicts: operation.conflicts,
        cursorExpires: operation.cursorExpires,
        takesKey: operation.takesKey,
        hasQuota: operation.tag === 'Attachments',
      }),
    },
  };
}

function requestBody(
  { field }: Operation,
  fields: readonly GraphQLInputField[],
  schemas: Schemas,
  isOptional: boolean,
): object {
  const schema = schemas.ofInputObject(fields);
  return {
    required: 'required' in schema && !isOptional,
    content: {
      'application/json': {
        schema: schemas.add(`${capitalize(field)}Request`, schema),
        example: createFieldsExample(field, fields),
      },
    },
  };
}

function successResponses(
  { kind, status, outcomes, takesKey }: Operation,
  field: GraphQLField<unknown, unknown>,
  schemas: Schemas,
): Record<string, object> {
  const schema = schemas.nonNull(field.type);
  const usual = (kind === 'Query' ? field : getNamedType(field.type)).description ?? 'Done.';
  const descriptions: Record<string, string> = { [status]: status === 201 ? OUTCOMES.CREATED : usual };
  for (const [outcome, code] of Object.entries(outcomes) as [Outcome, number][]) {
    if (code !== status) descriptions[code] = OUTCOMES[outcome];
  }
  return Object.fromEntries(
    Object.entries(descriptions).map(([code, text]) => {
      const headers = takesKey && code === '200' ? [...LIMIT_HEADERS, 'Idempotency-Replayed'] : LIMIT_HEADERS;
      return [code, describeJsonResponse(text, schema, headers)];
    }),
  );
}

const BODY_OR_QUERY =
  'The fields may be sent in a JSON body or in the query, all required ones in the same of the two.';

function createDescription(
  { scope, clientCredentials, deprecated }: Operation,
  field: GraphQLField<unknown, unknown>,
  mayUseQuery: boolean,
): string {
  const anyToken = clientCredentials
    ? 'Needs an access token of the client-credentials grant; no scope is needed.'
    : 'Needs a valid access token; no scope is needed.';
  const access = scope === null ? anyToken : `Needs the scope \`${scope}\`.`;
  const removal = deprecated?.sunset ? `, and removed on ${deprecated.sunset}` : '';
  const deprecation = deprecated && `Deprecated since ${deprecated.since}${removal}. ${field.deprecationReason}`;
  return [field.description, mayUseQuery && BODY_OR_QUERY, access, deprecation].filter(Boolean).join('\n\n');
}

/** Returns `List subcontractor SWMS`, `Get timesheet` or `Create meeting`, from the names in the schema. */
function createSummary({ kind, field: name }: Operation, field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  if (kind === 'Mutation') return capitalize(toWords(name));
  return type.extensions.envelope ? `List ${toWords(name)}` : `Get ${toWords(type.name)}`;
}

/** `SwmsDocument` to `SWMS document`, `signOnEvent` to `sign-on event`. */
const toWords = (name: string) =>
  name
    .replace(/[A-Z]/g, (letter, at: number) => `${at > 0 ? ' ' : ''}${letter.toLowerCase()}`)
    .replace(/\bswms\b/g, 'SWMS')
    .replace(/\bsign (on|off)\b/g, 'sign-$1');

const capitalize = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`;

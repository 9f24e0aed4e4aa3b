import { getNullableType, isListType, isNonNullType } from 'graphql';
import { API_VERSION } from '../../../schema/rest.ts';
import type { JsonSchema } from '../../../schema/scalar.ts';
import { BuilderId, IdempotencyKey } from '../../../schema/scalars.ts';
import { REGIONS } from '../../shared/regions.ts';
import type { ArgumentLocation } from '../input.ts';
import { createFieldExample } from './examples.ts';
import type { Schemas } from './schemas.ts';

const {
  examples: [builderExample],
  ...builderSchema
} = BuilderId.extensions.jsonSchema as JsonSchema & { examples: string[] };
const {
  examples: [keyExample],
  ...keySchema
} = IdempotencyKey.extensions.jsonSchema as JsonSchema & { examples: string[] };

/** Example of an optional parameter. Scalar's reference page leaves it out of sample requests until the reader selects it. */
export const createUnselectedExample = (value: unknown) => ({ usual: { value, 'x-disabled': true } });

/** Header parameters, as components of the document. */
export const parameterComponents = {
  ApiVersion: {
    name: 'X-Service-Api-Version',
    in: 'header',
    description: `Version of the API. Default \`${API_VERSION}\`.`,
    schema: { type: 'string', enum: [API_VERSION], default: API_VERSION },
  },
  RegionId: {
    name: 'X-Service-Region-Id',
    in: 'header',
    description: 'Region that issued the access token. Default `au1`.',
    schema: { type: 'string', enum: REGIONS, default: REGIONS[0] },
    examples: createUnselectedExample(REGIONS[0]),
  },
  ClientRegionId: {
    name: 'X-Service-Region-Id',
    in: 'header',
    description: "Region of the client's account. Without it, the client is searched for in every region.",
    schema: { type: 'string', enum: REGIONS },
  },
  BuilderId: {
    name: 'X-Service-Builder-Id',
    in: 'header',
    description:
      'Builder of the requested data. With a client-credentials token it has to be sent: 400 without it. An authorization-code token carries its builder in the claim `builder_id`: there the header may be left out, and one that names another builder is 403.',
    schema: builderSchema,
    example: builderExample,
  },
  OptionalBuilderId: {
    name: 'X-Service-Builder-Id',
    in: 'header',
    description: 'Not needed here. When sent, it must be the builder of the resource, else 403.',
    schema: builderSchema,
    examples: createUnselectedExample(builderExample),
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    'x-extension': true,
    description:
      'Key that the client chooses for a creation. For 24 hours, a repeated request with it returns the record that the first one created, as it is now, with status 200. Requests that carry an `externalSourceId` ignore it.',
    schema: keySchema,
    examples: createUnselectedExample(keyExample),
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Identifier that the client chooses for the request, 1 to 128 visible ASCII characters. It is returned in the response.',
    schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[\\x21-\\x7e]+$' },
    examples: createUnselectedExample('sync-2026-03-02-000117'),
  },
};

export const referToParameter = (name: keyof typeof parameterComponents) => ({
  $ref: `#/components/parameters/${name}`,
});

/** Returns the header parameters of an operation that requires an access token. */
export const listHeaderParameters = (builder: 'required' | 'optional') => [
  referToParameter('ApiVersion'),
  referToParameter('RegionId'),
  referToParameter(builder === 'required' ? 'BuilderId' : 'OptionalBuilderId'),
  referToParameter('RequestId'),
];

const describeRepetition = (name: string) =>
  `May be repeated, as \`${name}=A&${name}=B\`, \`${name}[]=A&${name}[]=B\` or \`${name}[0]=A&${name}[1]=B\`.`;

/** Returns the parameters of an operation: those of the path in its order, of the query, and of the header. */
export function describeParameters(
  operation: { field: string; path: string; takesKey: boolean },
  locations: readonly ArgumentLocation[],
  schemas: Schemas,
): object[] {
  const at = (location: ArgumentLocation['location']) => locations.filter((one) => one.location === location);
  const inPath = at('path').sort((one, other) => positionIn(one, operation.path) - positionIn(other, operation.path));
  const inQuery = inDeclaredOrder([...at('query'), ...at('bodyOrQuery')]);
  const own = [...inPath, ...inQuery].map(({ argument, name, location }) => {
    const { description, ...schema } = schemas.describe(argument, schemas.nonNull(argument.type));
    const required = isNonNullType(argument.type) && location !== 'bodyOrQuery';
    const example = createFieldExample(operation.field, argument);
    const isRepeatable = isListType(getNullableType(argument.type));
    const texts = [description, isRepeatable && describeRepetition(name)].filter(Boolean);
    return {
      name,
      in: location === 'path' ? 'path' : 'query',
      ...(required && { required }),
      ...(ADDITIONS.has(name) && { 'x-extension': true }),
      ...(texts.length > 0 && { description: texts.join(' ') }),
      ...(isRepeatable && { style: 'form', explode: true }),
      schema,
      ...(required ? { example } : { examples: createUnselectedExample(example) }),
    };
  });
  const needsBuilder = at('header').some(({ argument }) => argument.name === 'builderId');
  const headers = listHeaderParameters(needsBuilder ? 'required' : 'optional');
  return [...own, ...headers, ...(operation.takesKey ? [referToParameter('IdempotencyKey')] : [])];
}

const positionIn = ({ name }: ArgumentLocation, path: string) => path.indexOf(`{${name}}`);

/** Arguments that many operations share: the last parameters of each, in this order. */
const LAST = ['startDate', 'endDate', 'timeZone', 'offset', 'limit', 'cursor', 'updatedSince', 'order'];

/** Parameters of lists that are additions to v1. */
const ADDITIONS = new Set(['cursor', 'updatedSince', 'order', 'timeZone']);

/** The arguments in the order of their declaration, which type-graphql reverses, and those of `LAST` after the others. */
function inDeclaredOrder(locations: readonly ArgumentLocation[]): ArgumentLocation[] {
  const rank = ({ argument }: ArgumentLocation) => LAST.indexOf(argument.name);
  return locations.toReversed().sort((one, other) => rank(one) - rank(other));
}

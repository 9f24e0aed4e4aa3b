import { isListType, isNonNullType } from 'graphql';
import { API_VERSION } from '../../../schema/rest.ts';
import { BuilderId } from '../../../schema/scalars.ts';
import { REGIONS } from '../../shared/regions.ts';
import type { Placement } from '../variables.ts';
import type { Examples } from './examples.ts';
import type { Schemas } from './schemas.ts';

const { pattern, examples } = BuilderId.extensions.jsonSchema as { pattern: string; examples: string[] };
const builderSchema = { type: 'string', pattern };

/** Example of an optional parameter: Scalar's page keeps it out of its sample requests until it is ticked. */
const unticked = (value: unknown) => ({ usual: { value, 'x-disabled': true } });

/** Headers that operations refer to. */
export const parameterComponents = {
  ApiVersion: {
    name: 'X-Service-Api-Version',
    in: 'header',
    description: `Version of the API. Left out, it is \`${API_VERSION}\`.`,
    schema: { type: 'string', enum: [API_VERSION], default: API_VERSION },
  },
  RegionId: {
    name: 'X-Service-Region-Id',
    in: 'header',
    description: 'Regional tenant, the one that issued the access token. Left out, it is `au1`.',
    schema: { type: 'string', enum: REGIONS, default: REGIONS[0] },
    examples: unticked(REGIONS[0]),
  },
  ClientRegionId: {
    name: 'X-Service-Region-Id',
    in: 'header',
    description: "Region of the client's account. Left out, the client is looked for in every region.",
    schema: { type: 'string', enum: REGIONS },
  },
  BuilderId: {
    name: 'X-Service-Builder-Id',
    in: 'header',
    description:
      'The builder whose data is meant. With a client-credentials token it has to be sent: 400 without it. An authorization-code token carries its builder in the claim `builder_id`: there the header may be left out, and one that names another builder is 403.',
    schema: builderSchema,
    example: examples[0],
  },
  OptionalBuilderId: {
    name: 'X-Service-Builder-Id',
    in: 'header',
    description: 'Not needed here. When sent, it must be the builder of the resource, else 403.',
    schema: builderSchema,
    examples: unticked(examples[0]),
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'An id of yours for the request, 1 to 128 visible ASCII characters. It comes back on the answer.',
    schema: { type: 'string', minLength: 1, maxLength: 128, pattern: '^[\\x21-\\x7e]+$' },
    examples: unticked('sync-2026-03-02-000117'),
  },
};

export const parameterReference = (name: keyof typeof parameterComponents) => ({
  $ref: `#/components/parameters/${name}`,
});

/** The headers of every operation that takes an access token. */
export const headerParameters = (builder: 'required' | 'optional') => [
  parameterReference('ApiVersion'),
  parameterReference('RegionId'),
  parameterReference(builder === 'required' ? 'BuilderId' : 'OptionalBuilderId'),
  parameterReference('RequestId'),
];

const repetition = (name: string) => `May be repeated, as \`${name}=A&${name}=B\` or \`${name}[]=A&${name}[]=B\`.`;

/** Parameters of an operation: those of the path in its order, then the query's. */
export function operationParameters(
  operation: { field: string; path: string },
  placements: readonly Placement[],
  schemas: Schemas,
  examples: Examples,
): object[] {
  const at = (place: Placement['place']) => placements.filter((placement) => placement.place === place);
  const inPath = at('path').sort((one, other) => positionOf(one, operation.path) - positionOf(other, operation.path));
  const inQuery = inReadingOrder([...at('query'), ...at('bodyOrQuery')]);
  const own = [...inPath, ...inQuery].map(({ argument, name, place }) => {
    const { description, ...schema } = schemas.described(argument, schemas.present(argument.type));
    const required = isNonNullType(argument.type) && place !== 'bodyOrQuery';
    const example = examples.ofField(operation.field, argument);
    const type = isNonNullType(argument.type) ? argument.type.ofType : argument.type;
    const isRepeatable = isListType(type);
    const texts = [description, isRepeatable && repetition(name)].filter(Boolean);
    return {
      name,
      in: place === 'path' ? 'path' : 'query',
      ...(required && { required }),
      ...(texts.length > 0 && { description: texts.join(' ') }),
      ...(isRepeatable && { style: 'form', explode: true }),
      schema,
      ...(required ? { example } : { examples: unticked(example) }),
    };
  });
  return [...own, ...headerParameters(at('header').length > 0 ? 'required' : 'optional')];
}

const positionOf = ({ name }: Placement, path: string) => path.indexOf(`{${name}}`);

/** Arguments that come in groups; they stand last, in this order. */
const GROUPED = ['startDate', 'endDate', 'offset', 'limit'];

/** type-graphql lists the arguments from the last to the first. */
function inReadingOrder(placements: readonly Placement[]): Placement[] {
  const rank = ({ argument }: Placement) => GROUPED.indexOf(argument.name);
  return placements.toReversed().sort((one, other) => rank(one) - rank(other));
}

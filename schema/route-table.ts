import { type GraphQLField, type GraphQLSchema, getNamedType } from 'graphql';
import type { RestRoute } from './rest.ts';

/** One REST operation of the contract. */
export interface Operation extends RestRoute {
  kind: 'Query' | 'Mutation';
  /** Root field of the schema that resolves it. */
  field: string;
  /** `operationId` of the OpenAPI document: the name of a mutation, or `list` or `get` with the name of a query. */
  operationId: string;
}

/** Returns the REST operations in the order of the schema. */
export function routeTable(schema: GraphQLSchema): Operation[] {
  const roots = [
    ['Query', schema.getQueryType()],
    ['Mutation', schema.getMutationType()],
  ] as const;
  return roots.flatMap(([kind, type]) =>
    Object.values(type?.getFields() ?? {}).flatMap((field) =>
      field.extensions.rest
        ? [
            {
              kind,
              field: field.name,
              operationId: operationIdOf(kind, field),
              ...(field.extensions.rest as RestRoute),
            },
          ]
        : [],
    ),
  );
}

/** Returns `listBuilders`, `getMe` or `createPhoto`. */
function operationIdOf(kind: Operation['kind'], { name, type }: GraphQLField<unknown, unknown>): string {
  if (kind === 'Mutation') return name;
  const verb = getNamedType(type).extensions.envelope ? 'list' : 'get';
  return `${verb}${name[0]!.toUpperCase()}${name.slice(1)}`;
}

import { type GraphQLField, type GraphQLSchema, getNamedType } from 'graphql';
import type { RestRoute } from './rest.ts';

/** One REST operation of the contract. */
export interface Operation extends RestRoute {
  kind: 'Query' | 'Mutation';
  /** Root field of the schema that resolves it. */
  field: string;
  /** Name in the OpenAPI document: the name of a mutation, or that of a query after `list` or `get`. */
  operationId: string;
}

/** Returns the REST operations of the schema, in its order. */
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

/** `listBuilders`, `getMe`, `createPhoto`. */
function operationIdOf(kind: Operation['kind'], { name, type }: GraphQLField<unknown, unknown>): string {
  if (kind === 'Mutation') return name;
  const verb = getNamedType(type).extensions.envelope ? 'list' : 'get';
  return `${verb}${name[0]!.toUpperCase()}${name.slice(1)}`;
}

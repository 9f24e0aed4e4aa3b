import { type GraphQLField, type GraphQLSchema, getNamedType } from 'graphql';
import type { RestRoute } from './rest.ts';

/** Argument of the mutations that take an `Idempotency-Key` (HDR-18). */
export const IDEMPOTENCY_ARGUMENT = 'idempotencyKey';

/** One REST operation of the contract. */
export interface Operation extends RestRoute {
  kind: 'Query' | 'Mutation';
  /** Root field of the schema that resolves it. */
  field: string;
  /** `operationId` of the OpenAPI document: the name of a mutation, or `list` or `get` with the name of a query. */
  operationId: string;
  /** Whether it takes an `Idempotency-Key`. */
  takesKey: boolean;
}

/** Returns the REST operations in the order of the schema. Throws where a deprecation breaks VER-10. */
export function createRouteTable(schema: GraphQLSchema): Operation[] {
  const roots = [
    ['Query', schema.getQueryType()],
    ['Mutation', schema.getMutationType()],
  ] as const;
  return roots.flatMap(([kind, type]) =>
    Object.values(type?.getFields() ?? {}).flatMap((field) => {
      const rest = field.extensions.rest as RestRoute | undefined;
      if (!rest) return [];
      requireDeprecation(field, rest);
      const takesKey = field.args.some(({ name }) => name === IDEMPOTENCY_ARGUMENT);
      const outcomes = { ...rest.outcomes, ...(takesKey && { REPLAYED: 200 }) };
      return [{ kind, field: field.name, operationId: toOperationId(kind, field), takesKey, ...rest, outcomes }];
    }),
  );
}

function requireDeprecation({ name, deprecationReason }: GraphQLField<unknown, unknown>, { deprecated }: RestRoute) {
  if (Boolean(deprecationReason) !== Boolean(deprecated)) {
    throw new Error(`${name} needs both a deprecationReason and the day of its deprecation, or neither.`);
  }
  if (!deprecated?.sunset) return;
  const earliest = new Date(deprecated.since);
  earliest.setUTCFullYear(earliest.getUTCFullYear() + 1);
  if (Date.parse(deprecated.sunset) < earliest.getTime()) {
    throw new Error(`${name} must stay for twelve months after its deprecation.`);
  }
}

/** Returns `listBuilders`, `getMe` or `createPhoto`. */
function toOperationId(kind: Operation['kind'], { name, type }: GraphQLField<unknown, unknown>): string {
  if (kind === 'Mutation') return name;
  const verb = getNamedType(type).extensions.envelope ? 'list' : 'get';
  return `${verb}${name[0]!.toUpperCase()}${name.slice(1)}`;
}

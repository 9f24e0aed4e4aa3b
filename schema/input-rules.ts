import type { GraphQLArgument, GraphQLFieldConfigArgumentMap } from 'graphql';
import { Extensions } from 'type-graphql';
import type { FieldError } from '../src/shared/errors.ts';

interface ListBounds {
  minItems?: number;
  maxItems: number;
}

/** Marks an optional argument that may be absent but not null: null is 400. */
export const NotNull = () => Extensions({ notNull: true });

/** Bounds the number of items of a list argument: more or fewer are 400. */
export const ItemCount = (bounds: ListBounds) => Extensions({ bounds });

type Rules = Pick<GraphQLArgument, 'extensions'>;

export const isNotNull = ({ extensions }: Rules) => Boolean(extensions?.notNull);

/** Returns the JSON Schema keywords for the number of items, if the argument bounds it. */
export const getListBounds = ({ extensions }: Rules) => extensions?.bounds as ListBounds | undefined;

/** Returns the errors of an argument's value under the rules that GraphQL types cannot express. */
export function findRuleErrors(name: string, argument: Rules, value: unknown): FieldError[] {
  if (value === null && isNotNull(argument)) return [{ fieldName: name, message: 'must not be null' }];
  const bounds = getListBounds(argument);
  if (!bounds || !Array.isArray(value)) return [];
  const { minItems = 0, maxItems } = bounds;
  if (value.length >= minItems && value.length <= maxItems) return [];
  const range = minItems > 0 ? `${minItems} to ${maxItems}` : `at most ${maxItems}`;
  return [{ fieldName: name, message: `must have ${range} items` }];
}

/** Returns the errors of all arguments of a field under these rules. */
export const findArgumentErrors = (
  args: GraphQLFieldConfigArgumentMap,
  values: Record<string, unknown>,
): FieldError[] =>
  Object.entries(args).flatMap(([name, argument]) => findRuleErrors(name, argument as Rules, values[name]));

import type { GraphQLArgument, GraphQLFieldConfigArgumentMap } from 'graphql';
import { Extensions } from 'type-graphql';
import type { FieldError } from '../src/shared/errors.ts';

interface ListBounds {
  minItems?: number;
  maxItems: number;
}

/** Marks an optional argument that may be left out but not be null: null is 400. */
export const NotNull = () => Extensions({ notNull: true });

/** Bounds the number of items of a list argument: more or fewer are 400. */
export const ItemCount = (bounds: ListBounds) => Extensions({ bounds });

type Rules = Pick<GraphQLArgument, 'extensions'>;

export const isNotNull = ({ extensions }: Rules) => Boolean(extensions?.notNull);

/** The keywords of JSON Schema for the number of items, if the argument bounds it. */
export const boundsOf = ({ extensions }: Rules) => extensions?.bounds as ListBounds | undefined;

/** The rules of an argument that GraphQL types cannot express, for the values that are given. */
export function ruleErrors(name: string, argument: Rules, value: unknown): FieldError[] {
  if (value === null && isNotNull(argument)) return [{ fieldName: name, message: 'must not be null' }];
  const bounds = boundsOf(argument);
  if (!bounds || !Array.isArray(value)) return [];
  const { minItems = 0, maxItems } = bounds;
  if (value.length >= minItems && value.length <= maxItems) return [];
  const range = minItems > 0 ? `${minItems} to ${maxItems}` : `at most ${maxItems}`;
  return [{ fieldName: name, message: `must have ${range} items` }];
}

/** The rules of all arguments of a field. */
export const argumentErrors = (args: GraphQLFieldConfigArgumentMap, values: Record<string, unknown>): FieldError[] =>
  Object.entries(args).flatMap(([name, argument]) => ruleErrors(name, argument as Rules, values[name]));

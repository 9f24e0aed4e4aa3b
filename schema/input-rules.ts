import type { GraphQLArgument } from 'graphql';
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

/**
 * Returns the errors of an argument that depend on the other arguments or on the clock.
 *
 * @param values The arguments that were sent. An argument or a field within one that its type rejects is `undefined`.
 * @param now Milliseconds since the epoch.
 */
type ArgumentRule<Values> = (values: Values, now: number) => FieldError[];

/** Declares a rule of an argument over all arguments of its operation. */
export const Rule = <Values>(rule: ArgumentRule<Values>) => Extensions({ rule });

/** Whether a value other than null was sent, valid or not. */
export const isSent = (values: object, name: string): boolean =>
  name in values && (values as Record<string, unknown>)[name] !== null;

/** Declares the value that an absent argument means, for the OpenAPI document. */
export const Default = (value: unknown) => Extensions({ default: value });

type Rules = Pick<GraphQLArgument, 'extensions'>;

export const isNotNull = ({ extensions }: Rules) => Boolean(extensions?.notNull);

/** Returns the JSON Schema keywords for the number of items, if the argument bounds it. */
export const getListBounds = ({ extensions }: Rules) => extensions?.bounds as ListBounds | undefined;

const getRule = ({ extensions }: Rules) => extensions?.rule as ArgumentRule<Record<string, unknown>> | undefined;

/** Returns the errors of an argument for all values of its operation and the time in milliseconds since the epoch. */
export type RuleCheck = (values: Record<string, unknown>, now: number) => FieldError[];

/** Returns the check of an argument under the rules that GraphQL types cannot express; null where it has none. */
export function createRuleCheck(name: string, argument: Rules): RuleCheck | null {
  const bounds = getListBounds(argument);
  const rule = getRule(argument);
  if (!isNotNull(argument) && !bounds) return rule ?? null;
  return (values, now) => {
    const value = values[name];
    if (value === null && isNotNull(argument)) return [{ fieldName: name, message: 'must not be null' }];
    if (bounds && Array.isArray(value)) {
      const { minItems = 0, maxItems } = bounds;
      const range = minItems > 0 ? `${minItems} to ${maxItems}` : `at most ${maxItems}`;
      if (value.length < minItems || value.length > maxItems)
        return [{ fieldName: name, message: `must have ${range} items` }];
    }
    return rule?.(values, now) ?? [];
  };
}

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

/**
 * Declares a rule of an argument over all arguments of its operation. It is checked where the argument is sent.
 *
 * @param options.ifAbsent Whether it is checked in any case.
 */
export const Rule = <Values>(rule: ArgumentRule<Values>, { ifAbsent = false } = {}) => Extensions({ rule, ifAbsent });

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

/** The rules of an argument that GraphQL types cannot express. */
export interface RuleCheck {
  /** Argument without which there is nothing to check; null for a check in any case. */
  ifSent: string | null;
  /** Returns the errors for all values of its operation and the time in milliseconds since the epoch. */
  check: (values: Record<string, unknown>, now: number) => FieldError[];
}

/** Returns the check of an argument; null where it has no rules. */
export function createRuleCheck(name: string, argument: Rules): RuleCheck | null {
  const bounds = getListBounds(argument);
  const rule = getRule(argument);
  const ifSent = argument.extensions?.ifAbsent ? null : name;
  if (!isNotNull(argument) && !bounds) return rule ? { ifSent, check: rule } : null;
  const check: RuleCheck['check'] = (values, now) => {
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
  return { ifSent, check };
}

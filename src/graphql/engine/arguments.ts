import { coerceInputValue, type GraphQLArgument, type GraphQLError, isRequiredArgument } from 'graphql';
import { getValidator } from '../../../schema/input.ts';
import { createRuleCheck, type RuleCheck } from '../../../schema/input-rules.ts';
import { type FieldError, FieldErrors } from '../../shared/errors.ts';

type Path = readonly (string | number)[];

/** An argument of an operation, the name that its errors begin with, and its checks beyond its type. */
export interface NamedArgument {
  argument: GraphQLArgument;
  name: string;
  validate: ReturnType<typeof getValidator>;
  checkRules: RuleCheck | null;
}

/** Returns an argument with its checks, which are looked up once, when an operation is prepared. */
export const toNamedArgument = (argument: GraphQLArgument, name = argument.name): NamedArgument => ({
  argument,
  name,
  validate: getValidator(argument.type),
  checkRules: createRuleCheck(argument.name, argument),
});

interface ArgumentParser<Argument> {
  /** Returns the JSON value that a request has for the argument; undefined where it has none. Adds what is wrong with its notation. */
  readValue: (argument: Argument, errors: FieldErrors) => unknown;
  /** Returns the errors for one of graphql-js at a path in the value. */
  toFieldErrors: (argument: Argument, path: Path, error: GraphQLError) => FieldError[];
  /** Errors of what belongs to no argument, such as texts that cannot be stored. */
  otherErrors: readonly FieldError[];
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Returns the values of an operation's arguments by name. Throws 400 with every field that fails: those that a type rejects, then those
 * that break a rule, in the order of the arguments, and then the others. ERR-1, ERR-9.
 */
export function parseArguments<Argument extends NamedArgument>(
  namedArguments: readonly Argument[],
  { readValue, toFieldErrors, otherErrors, now }: ArgumentParser<Argument>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const errors = new FieldErrors();
  for (const named of namedArguments) {
    const { argument, name, validate } = named;
    const before = errors.count;
    const raw = readValue(named, errors);
    if (raw === undefined) {
      if (isRequiredArgument(argument) && errors.count === before)
        errors.add({ fieldName: name, message: 'is required' });
      continue;
    }
    if (validate && raw !== null) {
      errors.add(...validate(raw, name));
      // The validator rejects whatever the type would.
      values[argument.name] = raw;
      continue;
    }
    values[argument.name] = coerceInputValue(raw, argument.type, (path, _value, error) => {
      errors.add(...toFieldErrors(named, path, error));
    });
  }
  for (const { checkRules } of namedArguments) {
    const broken = checkRules?.(values, now) ?? [];
    if (broken.length > 0) errors.addNew(...broken);
  }
  if (errors.count === 0 && otherErrors.length === 0) return values;
  errors.sort(namedArguments.map(({ name }) => name));
  errors.addNew(...otherErrors);
  errors.throwIfAny();
  return values;
}

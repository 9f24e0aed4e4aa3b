import {
  coerceInputValue,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLField,
  getArgumentValues,
  isNonNullType,
  isRequiredArgument,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { createRuleCheck, type RuleCheck } from '../../../schema/input-rules.ts';
import { holdsVariable } from '../../../schema/scalar.ts';
import { type FieldError, FieldErrors } from '../../shared/errors.ts';

type Path = readonly (string | number)[];

/** An argument of an operation, the name that its errors begin with, and its checks beyond its type. */
export interface NamedArgument<Input> {
  argument: GraphQLArgument;
  name: string;
  rules: RuleCheck | null;
  /** Returns the JSON value that the input has for it; undefined where it has none. Adds what is wrong with its notation. */
  readValue: (input: Input, addErrors: AddErrors) => unknown;
}

/** Returns an argument with its checks, which are looked up once, when an operation is prepared. */
export const toNamedArgument = <Input>(
  argument: GraphQLArgument,
  readValue: NamedArgument<Input>['readValue'],
  name = argument.name,
): NamedArgument<Input> => ({
  argument,
  name,
  readValue,
  rules: createRuleCheck(argument.name, argument),
});

/** Returns the errors of values that break a rule of theirs. */
export function findBrokenRules(
  arguments_: readonly { rules: RuleCheck | null }[],
  values: Record<string, unknown>,
  now: number,
): FieldError[] {
  const broken: FieldError[] = [];
  for (const { rules } of arguments_)
    if (rules && (rules.ifSent === null || rules.ifSent in values)) broken.push(...rules.check(values, now));
  return broken;
}

/** Adds errors to those of the input. */
export type AddErrors = (...errors: FieldError[]) => void;

interface ParseOptions<Argument, Input> {
  /** Returns the errors for one of graphql-js at a path in the value. */
  toFieldErrors: (argument: Argument, input: Input, path: Path, error: GraphQLError) => FieldError[];
  /** Errors of what belongs to no argument, such as texts that cannot be stored. */
  otherErrors: readonly FieldError[];
  /** Milliseconds since the epoch. */
  now: number;
}

/**
 * Returns the values of an operation's arguments by name. Throws 400 with every field that fails: those that a type rejects, then those
 * that break a rule, in the order of the arguments, and then the others. ERR-1, ERR-9.
 */
export function parseArguments<Input, Argument extends NamedArgument<Input>>(
  namedArguments: readonly Argument[],
  input: Input,
  { toFieldErrors, otherErrors, now }: ParseOptions<Argument, Input>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  /** Of the errors, once there is one. */
  const found: { errors?: FieldErrors } = {};
  const addErrors: AddErrors = (...added) => {
    found.errors ??= new FieldErrors();
    found.errors.add(...added);
  };
  for (const named of namedArguments) {
    const { argument, name } = named;
    const before = found.errors?.count;
    const raw = named.readValue(input, addErrors);
    if (raw === undefined) {
      if (isRequiredArgument(argument) && found.errors?.count === before)
        addErrors({ fieldName: name, message: 'is required' });
      continue;
    }
    values[argument.name] = coerceInputValue(raw, argument.type, (path, _value, error) => {
      addErrors(...toFieldErrors(named, input, path, error));
    });
  }
  const broken = findBrokenRules(namedArguments, values, now);
  if (!found.errors && broken.length === 0 && otherErrors.length === 0) return values;
  const errors = found.errors ?? new FieldErrors();
  errors.addNew(...broken);
  errors.sort(namedArguments.map(({ name }) => name));
  errors.addNew(...otherErrors);
  errors.throwIfAny();
  return values;
}

/** The arguments of an edge, whose literals are parsed. */
export interface EdgeArguments {
  /** With the defaults of arguments whose variable may be absent. */
  literals: Readonly<Record<string, unknown>>;
  /** The variable of each of the others. */
  variables: readonly [name: string, variable: string][];
}

/**
 * Returns the arguments of a field, the literals apart from the variables; null where a literal holds a variable, and where a default allows a
 * variable of a non-null argument to be null.
 */
export function splitArguments(
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
  { variableDefinitions = [] }: OperationDefinitionNode,
): EdgeArguments | null {
  const variables: [name: string, variable: string][] = [];
  const literals: GraphQLArgument[] = [];
  for (const argument of field.args) {
    const value = node.arguments?.find(({ name }) => name.value === argument.name)?.value;
    if (value?.kind !== Kind.VARIABLE) {
      if (value && holdsVariable(value)) return null;
      literals.push(argument);
      continue;
    }
    const definition = variableDefinitions.find(({ variable }) => variable.name.value === value.name.value)!;
    const hasDefault = argument.defaultValue !== undefined;
    if (isNonNullType(argument.type) && (hasDefault || definition.defaultValue)) return null;
    if (hasDefault) literals.push(argument);
    variables.push([argument.name, value.name.value]);
  }
  return { literals: getArgumentValues({ ...field, args: literals }, node), variables };
}

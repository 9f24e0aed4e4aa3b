import {
  coerceInputValue,
  type DocumentNode,
  GraphQLError,
  type GraphQLInputType,
  getVariableValues,
  ProvidedRequiredArgumentsRule,
  typeFromAST,
  type ValidationRule,
  type ValueNode,
  ValuesOfCorrectTypeRule,
  validate,
  valueFromASTUntyped,
} from 'graphql';
import { formatFieldPath, toFieldErrors } from '../../../schema/input.ts';
import { INEXACT_NUMBER, isExactText, JsonValueError } from '../../../schema/json-problems.ts';
import { isCleanText, UNCLEAN } from '../../../schema/text.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { type FieldError, FieldErrors, ValidationError } from '../../shared/errors.ts';
import { parseArguments, toNamedArgument } from '../engine/arguments.ts';
import { type PendingOperation, type SelectedField } from '../engine/root-fields.ts';
import { findArgumentPaths } from './argument-names.ts';
import { requireEdgeScopes } from './edge-scopes.ts';

type Values = Readonly<Record<string, unknown>>;

/** Errors of literals and of required arguments by document: validation leaves them to `rejectInput`. */
const literalErrors = new WeakMap<DocumentNode, readonly GraphQLError[]>();

/**
 * Returns the validation rule that keeps errors of the input back: scope and builder access precede them (ERR-23). Literals are input as
 * variables are.
 *
 * @param options of the validation.
 */
export const deferInputErrors =
  (options: { hideSuggestions: boolean }): ValidationRule =>
  (context) => {
    const document = context.getDocument();
    const deferred = validate(context.getSchema(), document, INPUT_RULES, options);
    literalErrors.set(document, deferred);
    const report = context.reportError.bind(context);
    context.reportError = (error) => {
      const isSame = ({ message, nodes }: GraphQLError) => message === error.message && nodes?.[0] === error.nodes?.[0];
      if (!deferred.some(isSame)) report(error);
    };
    return {};
  };

/** Validation rule: literals are exact numbers and texts that can be stored, as values of JSON are. ERR-27. */
const storableLiterals: ValidationRule = (context) => {
  const check = (isValid: (text: string) => boolean, message: string) => (node: ValueNode & { value: string }) => {
    if (isValid(node.value)) return;
    const originalError = new JsonValueError([{ fieldName: '', message }]);
    context.reportError(new GraphQLError(message, { nodes: node, originalError }));
  };
  const number = check(isExactText, INEXACT_NUMBER);
  return { IntValue: number, FloatValue: number, StringValue: check(isCleanText, UNCLEAN) };
};

const INPUT_RULES = [ValuesOfCorrectTypeRule, ProvidedRequiredArgumentsRule, storableLiterals];

/** Whether no literal of a validated document is invalid. */
export const hasValidLiterals = (document: DocumentNode): boolean => !literalErrors.get(document)?.length;

/**
 * Throws 400 with every variable and literal that its type rejects, every argument that breaks a rule, and every text that cannot be stored,
 * named by argument as in REST; before that, 403 for an edge that the caller may not follow. Edges of valid operations are authorized when they
 * are executed, for each record. Returns the coerced variables, or null, where graphql-js has to report what is wrong. ERR-24, ERR-28.
 */
export function rejectInput(pending: PendingOperation, context: RequestContext): Record<string, unknown> | null {
  const { schema, document, operation, variables } = pending;
  requireEdgeScopes(pending, context.caller);
  throwErrors(pending, literalErrors.get(document) ?? [], context.textErrors ?? [], context.clock.now());
  return getVariableValues(schema, operation.variableDefinitions ?? [], variables, { maxErrors: 1 }).coerced ?? null;
}

/** Throws the errors of each root field, which are those of REST, and then those that only GraphQL knows. */
function throwErrors(
  { schema, document, operation, variables, allVariables, roots }: PendingOperation,
  deferred: readonly GraphQLError[],
  textErrors: readonly FieldError[],
  now: number,
): void {
  const errors = new FieldErrors();
  const paths = findArgumentPaths(document);
  for (const root of roots) errors.addNew(...findRootErrors(root, allVariables, now));
  for (const error of deferred) {
    const missing = /argument "(\w+)" of type "[^"]+" is required/.exec(error.message);
    const [name, ...path] = missing ? [missing[1]!] : (paths.nodes.get(error.nodes![0]!) ?? ['query']);
    errors.addNew(...toFieldErrors(String(name), path, error));
  }
  for (const { variable, type: typeNode, defaultValue } of operation.variableDefinitions ?? []) {
    const type = typeFromAST(schema, typeNode as never) as GraphQLInputType;
    const [name, ...start] = paths.variables.get(variable.name.value) ?? [variable.name.value];
    const value = variables[variable.name.value];
    if (value === undefined && (defaultValue || typeNode.kind !== 'NonNullType')) continue;
    coerceInputValue(value, type, (path, _value, error) => {
      const found = toFieldErrors(String(name), [...start, ...path], error);
      // GraphQL takes an object in place of a list for its only item, which the parser of REST has refused.
      errors.addNew(...found.filter(({ fieldName }) => !errors.hasAbove(fieldName)));
    });
  }
  errors.sort(roots.flatMap(({ field }) => field.args.map(({ name }) => name)));
  for (const { fieldName, message } of textErrors) {
    const [, variable, rest] = /^(\w*)(.*)$/s.exec(fieldName)!;
    const [name, ...start] = paths.variables.get(variable!) ?? [variable!];
    errors.addNew({ fieldName: formatFieldPath(String(name), start) + rest, message });
  }
  errors.throwIfAny();
}

/** Returns the errors of a root field's arguments, which are parsed as those of REST are. */
function findRootErrors({ field, node }: SelectedField, variables: Values, now: number): readonly FieldError[] {
  const sent = new Map(node.arguments?.map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]));
  try {
    const named = field.args.map((argument) =>
      toNamedArgument<typeof sent>(argument, (each) => each.get(argument.name)),
    );
    parseArguments(named, sent, {
      toFieldErrors: ({ name }, _sent, path, error) => toFieldErrors(name, path, error),
      otherErrors: [],
      now,
    });
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return error.errors;
    throw error;
  }
}

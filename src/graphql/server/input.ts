import type { ApolloServerPlugin } from '@apollo/server';
import {
  coerceInputValue,
  type GraphQLInputType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  print,
  typeFromAST,
  valueFromAST,
} from 'graphql';
import { getValidator, toFieldErrors } from '../../../schema/input.ts';
import { findRuleErrors } from '../../../schema/input-rules.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { ApiError, type FieldError, FieldErrors } from '../../shared/errors.ts';
import { toGraphqlError } from './errors.ts';

/** Validates all variables before the operation executes, so that one error names every field that fails, as in REST. */
export function validateVariables(schema: GraphQLSchema): ApolloServerPlugin<RequestContext> {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, request, contextValue }) {
          if (!operation) return;
          try {
            checkVariables(schema, operation, request.variables ?? {}, contextValue);
          } catch (error) {
            throw error instanceof ApiError ? toGraphqlError(error) : error;
          }
        },
      };
    },
  };
}

type Values = Record<string, unknown>;

/**
 * Throws 400 with every variable that its type rejects or that contains invalid text, and then with every argument that breaks a rule. Where
 * all variables have their types, the resolvers check the rules, after the authorization of their operations (ERR-23).
 */
function checkVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Values,
  { clock, textErrors = [] }: RequestContext,
) {
  const errors = new FieldErrors();
  const coerced: Values = {};
  for (const definition of operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const value = variables[name];
    const type = typeFromAST(schema, definition.type as never) as GraphQLInputType | undefined;
    if (!type) continue;
    if (value === undefined && definition.defaultValue) {
      coerced[name] = valueFromAST(definition.defaultValue, type);
      continue;
    }
    if (value === undefined && definition.type.kind !== 'NonNullType') continue;
    const validate = getValidator(type);
    if (validate && value != null) errors.add(...validate(value, name));
    else
      coerced[name] = coerceInputValue(value, type, (path, _value, error) =>
        errors.add(...toFieldErrors(name, path, error)),
      );
  }
  errors.addNew(...textErrors);
  if (errors.count > 0) errors.addNew(...findOperationErrors(schema, operation, coerced, clock.now()));
  errors.throwIfAny();
}

/** Returns the errors of the root fields' arguments under the rules that their types cannot express. */
function findOperationErrors(
  schema: GraphQLSchema,
  { operation, selectionSet }: OperationDefinitionNode,
  variables: Values,
  now: number,
): FieldError[] {
  const fields = schema.getRootType(operation)!.getFields();
  return selectionSet.selections.flatMap((selection) => {
    if (selection.kind !== Kind.FIELD) return [];
    const args = fields[selection.name.value]?.args ?? [];
    const values: Values = {};
    for (const { name, value } of selection.arguments ?? []) {
      const { type } = args.find((argument) => argument.name === name.value)!;
      if (value.kind === Kind.VARIABLE) {
        if (value.name.value in variables) values[name.value] = variables[value.name.value];
      } else {
        // A literal with a variable that its type rejects would look as if the variable were absent.
        values[name.value] = print(value).includes('$') ? undefined : valueFromAST(value, type);
      }
    }
    return args.flatMap((argument) => findRuleErrors(argument.name, argument, values, now));
  });
}

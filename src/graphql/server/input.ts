import type { ApolloServerPlugin } from '@apollo/server';
import {
  coerceInputValue,
  type GraphQLInputType,
  type GraphQLSchema,
  typeFromAST,
  type VariableDefinitionNode,
} from 'graphql';
import { getValidator, toFieldError } from '../../../schema/input.ts';
import { ApiError, FieldErrors } from '../../shared/errors.ts';
import { toGraphqlError } from './errors.ts';

/** Validates all variables before the operation executes, so that one error names every field that fails, as in REST. */
export function validateVariables(schema: GraphQLSchema): ApolloServerPlugin {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, request }) {
          try {
            checkVariables(schema, operation?.variableDefinitions ?? [], request.variables ?? {});
          } catch (error) {
            throw error instanceof ApiError ? toGraphqlError(error) : error;
          }
        },
      };
    },
  };
}

/** Throws 400 with every variable that its type rejects. */
function checkVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  variables: Record<string, unknown>,
): void {
  const errors = new FieldErrors();
  for (const definition of definitions) {
    const name = definition.variable.name.value;
    const value = variables[name];
    const type = typeFromAST(schema, definition.type as never) as GraphQLInputType | undefined;
    if (!type || (value === undefined && (definition.defaultValue || definition.type.kind !== 'NonNullType'))) continue;
    const validate = getValidator(type);
    if (validate && value != null) errors.add(...validate(value, name));
    else coerceInputValue(value, type, (path, _value, error) => errors.add(toFieldError(name, path, error)));
  }
  errors.throwIfAny();
}

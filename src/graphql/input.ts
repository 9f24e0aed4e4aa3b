import type { ApolloServerPlugin } from '@apollo/server';
import { coerceInputValue, type GraphQLInputType, type GraphQLSchema, typeFromAST } from 'graphql';
import { fieldError, inspectionOf } from '../../schema/input.ts';
import { type FieldError, MAX_FIELD_ERRORS, ValidationError } from '../errors.ts';
import { graphqlError } from './errors.ts';

/** Checks the variables before they are used, so that one error names every field that fails, as in REST. */
export function inputErrors(schema: GraphQLSchema): ApolloServerPlugin {
  return {
    async requestDidStart() {
      return {
        async didResolveOperation({ operation, request }) {
          const errors: FieldError[] = [];
          for (const definition of operation?.variableDefinitions ?? []) {
            const name = definition.variable.name.value;
            const value = request.variables?.[name];
            const type = typeFromAST(schema, definition.type as never) as GraphQLInputType | undefined;
            if (!type || (value === undefined && (definition.defaultValue || definition.type.kind !== 'NonNullType')))
              continue;
            const inspect = inspectionOf(type);
            if (inspect && value != null) {
              errors.push(...inspect(value, name));
              continue;
            }
            errors.push(...coercionErrors(name, value, type));
            if (errors.length >= MAX_FIELD_ERRORS) break;
          }
          if (errors.length > 0) throw graphqlError(new ValidationError(errors));
        },
      };
    },
  };
}

/** Thrown to stop graphql-js, which would look for suggestions for every wrong value of a list. */
const ENOUGH = new Error('enough errors');

/** Returns what is wrong with a variable's value: the first errors, as many as one answer names. */
function coercionErrors(name: string, value: unknown, type: GraphQLInputType): FieldError[] {
  const errors: FieldError[] = [];
  try {
    coerceInputValue(value, type, (path, _value, error) => {
      errors.push(fieldError(name, path, error.message));
      if (errors.length >= MAX_FIELD_ERRORS) throw ENOUGH;
    });
  } catch (thrown) {
    if (thrown !== ENOUGH) throw thrown;
  }
  return errors;
}

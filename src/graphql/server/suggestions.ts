import type { GraphQLFormattedError } from 'graphql';
import type { FieldError } from '../../shared/errors.ts';
import { formatError } from './errors.ts';

/** Suggestion at the end of a message of graphql-js, with names of the schema. */
const SUGGESTION = / ?Did you mean [\s\S]*\?$/;

/**
 * Apollo's `formatError` for a schema that is not public: formats errors without suggestions. Apollo's setting
 * `hideSchemaDetailsFromClientErrors` does not remove those of variables, which are coerced after validation.
 */
export function formatErrorWithoutSuggestions(
  formatted: GraphQLFormattedError,
  thrown: unknown,
): GraphQLFormattedError {
  const { message, extensions, ...others } = formatError(formatted, thrown);
  const errors = extensions?.errors as FieldError[] | undefined;
  const cut = errors?.map((error) => ({ ...error, message: withoutSuggestion(error.message) }));
  // The message of a validation error joins those of its fields.
  const joined = cut && errors!.some((error, index) => error.message !== cut[index]!.message);
  return {
    ...others,
    message: joined
      ? cut.map((error) => `${error.fieldName}: ${error.message}`).join('; ')
      : withoutSuggestion(message),
    ...(extensions && { extensions: cut ? { ...extensions, errors: cut } : extensions }),
  };
}

/** Most messages have none. Without the check, the search would restart at each "Did you mean" of a message that repeats a client's text. */
const withoutSuggestion = (message: string) => (message.endsWith('?') ? message.replace(SUGGESTION, '') : message);

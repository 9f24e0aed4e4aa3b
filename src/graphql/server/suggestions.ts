import type { GraphQLFormattedError } from 'graphql';
import type { FieldError } from '../../shared/errors.ts';
import { formatError } from './errors.ts';

/** What graphql-js guesses that the client meant: names of the schema. It ends the message. */
const SUGGESTION = / ?Did you mean [\s\S]*\?$/;

/**
 * Apollo's `formatError` where the schema is not public: the same without suggestions. Apollo's own setting,
 * `hideSchemaDetailsFromClientErrors`, leaves those of variables, which are checked after validation.
 */
export function formatErrorWithoutSuggestions(
  formatted: GraphQLFormattedError,
  thrown: unknown,
): GraphQLFormattedError {
  const { message, extensions, ...others } = formatError(formatted, thrown);
  const errors = extensions?.errors as FieldError[] | undefined;
  const cut = errors?.map((error) => ({ ...error, message: withoutSuggestion(error.message) }));
  // The message of several errors joins theirs.
  const joined = cut && errors!.some((error, index) => error.message !== cut[index]!.message);
  return {
    ...others,
    message: joined
      ? cut.map((error) => `${error.fieldName}: ${error.message}`).join('; ')
      : withoutSuggestion(message),
    ...(extensions && { extensions: cut ? { ...extensions, errors: cut } : extensions }),
  };
}

const withoutSuggestion = (message: string) => message.replace(SUGGESTION, '');

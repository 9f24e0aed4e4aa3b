import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { fieldError } from '../../../schema/input.ts';
import { toApiError } from '../../database/errors.ts';
import { ApiError, ValidationError } from '../../shared/errors.ts';
import { argumentPathOf } from './argument-names.ts';

/** A GraphQL error whose extensions say what the REST answer would say. ERR-24. */
export function graphqlError(error: ApiError): GraphQLError {
  return new GraphQLError(error.message, { originalError: error, extensions: extensionsOf(error) });
}

export function extensionsOf(error: ApiError): Record<string, unknown> {
  const errors = error instanceof ValidationError ? { errors: error.errors, ...error.details } : {};
  return { code: error.code, http: { status: error.status }, ...errors };
}

/** Apollo's `formatError`: public errors keep their code, status and fields; anything else is `INTERNAL`. */
export function formatError(formatted: GraphQLFormattedError, thrown: unknown): GraphQLFormattedError {
  const original = unwrapResolverError(thrown);
  if (original instanceof GraphQLError) return formatRequestError(formatted, original);
  const error = toApiError(original);
  return { ...formatted, message: error.message, extensions: extensionsOf(error) };
}

/** Errors of the request itself: syntax, validation, a literal that its type refuses. They all are 400. */
function formatRequestError(formatted: GraphQLFormattedError, error: GraphQLError): GraphQLFormattedError {
  if (error.originalError instanceof ApiError) {
    return { ...formatted, extensions: extensionsOf(error.originalError) };
  }
  const { code } = formatted.extensions ?? {};
  // Apollo gives some of its refusals a status and no code.
  const { status = 500 } = (error.extensions.http as { status?: number } | undefined) ?? {};
  if (code === 'INTERNAL_SERVER_ERROR' && status < 500) {
    return { ...formatted, extensions: { code: 'BAD_REQUEST', http: { status } } };
  }
  if (code === 'INTERNAL_SERVER_ERROR') {
    return { message: 'Something went wrong on our side.', extensions: { code: 'INTERNAL', http: { status: 500 } } };
  }
  const input = inputOf(error);
  if (!input) return { ...formatted, extensions: { code, http: { status: 400 } } };
  const errors = [fieldError(input.name, input.path, error)];
  return { ...formatted, extensions: { code: 'BAD_USER_INPUT', http: { status: 400 }, errors } };
}

/** The argument, and the path inside it, whose literal an error points at. */
function inputOf(error: GraphQLError): { name: string; path: (string | number)[] } | null {
  const missing = /argument "(\w+)" of type "[^"]+" is required/.exec(error.message);
  if (missing) return { name: missing[1]!, path: [] };
  const node = error.nodes?.[0];
  const [name, ...path] = (node?.loc && error.source && argumentPathOf(error.source, node)) || [];
  return typeof name === 'string' ? { name, path } : null;
}

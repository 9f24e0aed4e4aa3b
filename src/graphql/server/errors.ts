import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { toFieldErrors } from '../../../schema/input.ts';
import { toApiError } from '../../database/errors.ts';
import { ApiError, ValidationError } from '../../shared/errors.ts';
import { findArgumentPath } from './argument-names.ts';

/** Returns a GraphQL error whose extensions hold what the REST response would hold. ERR-24. */
export function toGraphqlError(error: ApiError): GraphQLError {
  return new GraphQLError(error.message, { originalError: error, extensions: toExtensions(error) });
}

/** Returns the extensions of an error: code, HTTP status and field errors. */
export function toExtensions(error: ApiError): Record<string, unknown> {
  const errors = error instanceof ValidationError ? { errors: error.errors, ...error.details } : {};
  return { code: error.code, http: { status: error.status }, ...errors };
}

/** Apollo's `formatError`: public errors keep their code, status and fields; anything else is `INTERNAL`. */
export function formatError(formatted: GraphQLFormattedError, thrown: unknown): GraphQLFormattedError {
  const original = unwrapResolverError(thrown);
  if (original instanceof GraphQLError) return formatRequestError(formatted, original);
  const error = toApiError(original);
  return { ...formatted, message: error.message, extensions: toExtensions(error) };
}

/** Formats an error of the request itself, such as syntax, validation or an invalid literal. Their status is 400 unless Apollo chose another one. */
function formatRequestError(formatted: GraphQLFormattedError, error: GraphQLError): GraphQLFormattedError {
  if (error.originalError instanceof ApiError) {
    return { ...formatted, extensions: toExtensions(error.originalError) };
  }
  const { code } = formatted.extensions ?? {};
  const { status } = (error.extensions.http as { status?: number } | undefined) ?? {};
  // Some errors of Apollo have a status and no code.
  if (code === 'INTERNAL_SERVER_ERROR' && status !== undefined && status < 500) {
    return { ...formatted, extensions: { code: 'BAD_REQUEST', http: { status } } };
  }
  if (code === 'INTERNAL_SERVER_ERROR') {
    return { message: 'Something went wrong on our side.', extensions: { code: 'INTERNAL', http: { status: 500 } } };
  }
  const literal = findLiteral(error);
  if (!literal) return { ...formatted, extensions: { code, http: { status: status ?? 400 } } };
  const errors = toFieldErrors(literal.name, literal.path, error);
  return { ...formatted, extensions: { code: 'BAD_USER_INPUT', http: { status: 400 }, errors } };
}

/** Returns the argument, and the path inside it, of the literal that an error refers to. */
function findLiteral(error: GraphQLError): { name: string; path: (string | number)[] } | null {
  const missing = /argument "(\w+)" of type "[^"]+" is required/.exec(error.message);
  if (missing) return { name: missing[1]!, path: [] };
  const node = error.nodes?.[0];
  const [name, ...path] = (node?.loc && error.source && findArgumentPath(error.source, node)) || [];
  return typeof name === 'string' ? { name, path } : null;
}

import { unwrapResolverError } from '@apollo/server/errors';
import { GraphQLError, type GraphQLFormattedError, Lexer, type Source, TokenKind } from 'graphql';
import { toApiError } from '../../database/errors.ts';
import { costLimitExceeded } from '../../limits/response-meter.ts';
import { ApiError, ValidationError } from '../../shared/errors.ts';

/** Maximum tokens of a document (LIM-18): more than dashboards need, and few enough to parse quickly. */
export const MAX_TOKENS = 5_000;

/** Returns a GraphQL error whose extensions hold what the REST response would hold. ERR-24. */
export function toGraphqlError(error: ApiError, path?: string[]): GraphQLError {
  return new GraphQLError(error.message, { originalError: error, path, extensions: toExtensions(error) });
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

/** Formats an error of the request itself, such as syntax or validation. Their status is 400 unless Apollo chose another one. */
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
  if (/contains more that \d+ tokens/.test(error.message) && error.source)
    return { ...formatted, ...formatTokenLimit(error.source) };
  return { ...formatted, extensions: { code, http: { status: status ?? 400 } } };
}

/** Apollo stops at the limit. The error has the number of all tokens. */
function formatTokenLimit(source: Source): GraphQLFormattedError {
  const lexer = new Lexer(source);
  let tokens = 0;
  while (lexer.advance().kind !== TokenKind.EOF) tokens++;
  const error = costLimitExceeded('have so many tokens', tokens, MAX_TOKENS);
  return { message: error.message, extensions: toExtensions(error) };
}

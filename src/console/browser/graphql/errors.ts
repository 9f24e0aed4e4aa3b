import type { CombinedError } from 'urql';

/** An error of a request, as urql reports it. */
export type RequestError = CombinedError;

/** HTTP status of the response, or of the first GraphQL error; undefined when there was no response. */
export const getStatus = ({ response, graphQLErrors }: RequestError): number | undefined =>
  (graphQLErrors[0]?.extensions?.http as { status?: number } | undefined)?.status ??
  (graphQLErrors[0]?.extensions?.status as number | undefined) ??
  response?.status;

/** Whether there was no response. */
export const isDisconnected = (error: RequestError): boolean =>
  error.networkError !== undefined && getStatus(error) === undefined;

/** Code of the first GraphQL error, such as `NOT_FOUND`. */
export const getCode = ({ graphQLErrors }: RequestError): string | undefined =>
  graphQLErrors[0]?.extensions?.code as string | undefined;

/** Returns an error in words for people. */
export function describeError(error: RequestError): { title: string; detail: string } {
  const status = getStatus(error);
  const detail = error.graphQLErrors.map(({ message }) => message).join(' ');
  if (isDisconnected(error))
    return { title: 'No connection', detail: 'The console could not reach the service. Your input is kept.' };
  if (status === 403) return { title: 'Not allowed', detail: detail || 'Your role does not permit this.' };
  if (status === 404) return { title: 'Not found', detail: detail || 'It does not exist in this region.' };
  if (status === 409) return { title: 'It has changed', detail };
  if (status === 429) return { title: 'Too many requests', detail: 'Try again in a few seconds.' };
  return { title: 'This did not work', detail: detail || 'The service could not answer. Try again.' };
}

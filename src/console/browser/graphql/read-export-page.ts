import type { AnyVariables, Client, TypedDocumentNode } from 'urql';
import { getStatus, type RequestError } from './errors.ts';

/** Seconds before the attempts after the first one, where the response does not say when to try again. */
const DELAYS = [1, 2, 4, 8, 16];

/** Returns the data of one page of an export. Waits and tries again where the service is busy. Throws the error of the last attempt. */
export async function readExportPage<Data, Variables extends AnyVariables>(
  client: Client,
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  for (let attempt = 0; ; attempt++) {
    const { data, error } = await client.query(query, variables).toPromise();
    if (data && !error) return data;
    const delay = DELAYS[attempt];
    if (!error || !isTransient(error) || delay === undefined) throw error ?? new Error('The response has no data.');
    const seconds = Number(error.response?.headers?.get('Retry-After') ?? delay);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

/** Whether a later attempt may succeed: too many requests, or no service. */
function isTransient(error: RequestError): boolean {
  const status = getStatus(error);
  return status === 429 || status === 502 || status === 503 || status === 504;
}

import type { AnyVariables, Client, TypedDocumentNode } from 'urql';

/** Returns the data of one page of an export. Throws the error of the request. */
export async function readExportPage<Data, Variables extends AnyVariables>(
  client: Client,
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
): Promise<Data> {
  const { data, error } = await client.query(query, variables, { requestPolicy: 'network-only' }).toPromise();
  if (!data || error) throw error ?? new Error('The response has no data.');
  return data;
}

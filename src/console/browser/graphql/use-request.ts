import { useEffect, useRef } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql';
import { useLive } from '../shared/live.tsx';
import { useConnection } from '../shared/session.ts';
import { isDisconnected, type RequestError } from './errors.ts';

export interface Request<Data> {
  data: Data | undefined;
  error: RequestError | undefined;
  fetching: boolean;
  retry: () => void;
}

interface Options {
  pause?: boolean;
  /** Whether the data is read again when the event log has changes of the builder's records. */
  live?: boolean;
}

/**
 * Returns the data of a query, and its state. Data of the variables before remains until the new data arrives. Data that was loaded
 * remains while a later request of the same variables fails, so that a page keeps what is typed into its forms. A request without a
 * response is repeated once the service can be reached again.
 */
export function useRequest<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false, live = false }: Options = {},
): Request<Data> {
  const [{ data, error, fetching }, execute] = useQuery({ query, variables, pause });
  const key = JSON.stringify(variables);
  const loaded = useRef<{ key: string; data: Data }>(undefined);
  // While a request runs, the data may be of the variables before. A failed request has the data null.
  if (data && !error && !fetching) loaded.current = { key, data };
  const kept = loaded.current?.key === key ? loaded.current.data : undefined;
  const version = useLive();
  const readVersion = useRef(version);
  useEffect(() => {
    if (!live || pause || readVersion.current === version) return;
    readVersion.current = version;
    execute({ requestPolicy: 'network-only' });
  }, [live, pause, version, execute]);
  const isOnline = useConnection() === 'online';
  const isRepeated = isOnline && error !== undefined && isDisconnected(error);
  useEffect(() => {
    if (isRepeated) execute({ requestPolicy: 'network-only' });
  }, [isRepeated, execute]);
  return { data: data ?? kept, error, fetching, retry: () => execute({ requestPolicy: 'network-only' }) };
}

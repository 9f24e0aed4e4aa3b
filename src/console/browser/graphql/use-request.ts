import { useEffect, useRef } from 'react';
import { type AnyVariables, type TypedDocumentNode, useQuery } from 'urql';
import { useLiveVersion } from '../shared/live.tsx';
import type { RequestError } from './errors.ts';

export interface Request<Data> {
  data: Data | undefined;
  error: RequestError | undefined;
  fetching: boolean;
  retry: () => void;
}

interface Options {
  pause?: boolean;
  /** Whether the data is read again when the event log says that the builder's records changed. */
  live?: boolean;
}

/** Returns the data of a query, and its state. Data of the variables before remains until the new data arrives. */
export function useRequest<Data, Variables extends AnyVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Variables,
  { pause = false, live = false }: Options = {},
): Request<Data> {
  const [{ data, error, fetching }, execute] = useQuery({ query, variables, pause });
  const version = useLiveVersion();
  const seen = useRef(version);
  useEffect(() => {
    if (!live || pause || seen.current === version) return;
    seen.current = version;
    execute({ requestPolicy: 'network-only' });
  }, [live, pause, version, execute]);
  return { data, error, fetching, retry: () => execute({ requestPolicy: 'network-only' }) };
}

import { useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useClient } from 'urql';
import { getCode, type RequestError } from './errors.ts';

/** Data of a mutation that succeeded. A root field is null only where it failed. */
type Succeeded<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> };

interface Outcome<Data> {
  /** Null when the mutation failed. */
  data: Succeeded<Data> | null;
  /** Whether another person changed the record since it was read. */
  isEditConflict: boolean;
}

interface Action<Data, Variables> {
  /** Sends the mutation. `error` is the reason of a failure. */
  run(variables: Variables): Promise<Outcome<Data>>;
  running: boolean;
  error: RequestError | undefined;
}

/** Returns a mutation with its state. */
export function useAction<Data, Variables extends AnyVariables>(
  mutation: TypedDocumentNode<Data, Variables>,
): Action<Data, Variables> {
  const client = useClient();
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<RequestError>();
  return {
    async run(variables) {
      setRunning(true);
      setError(undefined);
      const { data, error: failure } = await client.mutation(mutation, variables).toPromise();
      setRunning(false);
      setError(failure);
      const isEditConflict = failure !== undefined && getCode(failure) === 'EDIT_CONFLICT';
      return { data: failure || !data ? null : (data as Succeeded<Data>), isEditConflict };
    },
    running,
    error,
  };
}

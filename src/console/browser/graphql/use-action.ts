import { useState } from 'react';
import { type AnyVariables, type TypedDocumentNode, useClient } from 'urql';
import { getCode, type RequestError } from './errors.ts';

/** Data of a mutation that succeeded. A root field is null only where it failed. */
export type Succeeded<Data> = { [Field in keyof Data]: NonNullable<Data[Field]> };

interface Outcome<Data> {
  /** Null when the mutation failed. */
  data: Succeeded<Data> | null;
  /** Whether another person changed the record since it was read. */
  isEditConflict: boolean;
}

/** State of the latest mutation: `error` is the reason of a failure. */
export interface ActionState {
  running: boolean;
  error: RequestError | undefined;
}

export interface Action extends ActionState {
  run<Data, Variables extends AnyVariables>(
    mutation: TypedDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<Outcome<Data>>;
}

/** Returns a function that sends one mutation at a time, with its state. */
export function useAction(): Action {
  const client = useClient();
  const [running, setRunning] = useState(false);
  const [error, setError] = useState<RequestError>();
  const run: Action['run'] = async (mutation, variables) => {
    setRunning(true);
    setError(undefined);
    const { data, error: failure } = await client.mutation(mutation, variables).toPromise();
    setRunning(false);
    setError(failure);
    const isEditConflict = failure !== undefined && getCode(failure) === 'EDIT_CONFLICT';
    return { data: failure || !data ? null : (data as Succeeded<typeof data>), isEditConflict };
  };
  return { run, running, error };
}

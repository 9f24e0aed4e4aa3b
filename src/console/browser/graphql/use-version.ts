import { useState } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { type Action, type Succeeded, useAction } from './use-action.ts';

interface Versioned {
  updatedAt: string;
}

export interface Version<R> {
  /** The record as it was last read, or as the person's own change left it. */
  record: R;
  /** `updatedAt` of what the person has seen, so that the service rejects an edit of a record that another person has changed since. */
  expectedUpdatedAt: string;
  /** Whether the last edit was not saved, because another person had changed the record. */
  hasEditConflict: boolean;
  /** Applies the outcome of an edit: the changed properties, or an edit conflict. The record is read again after both. */
  settle(changed: (Partial<R> & Versioned) | null | undefined, isEditConflict: boolean): void;
}

/**
 * Returns the version of a record that a person edits. After an edit conflict it is that of the next read, so that the person can decide
 * again.
 *
 * @param readAgain reads the record again.
 */
export function useVersion<R extends Versioned>(read: R, readAgain: () => void): Version<R> {
  const [state, setState] = useState({ own: read, seen: read.updatedAt, hasEditConflict: false, reading: false });
  const record = state.own.updatedAt > read.updatedAt ? state.own : read;
  if (state.reading && record.updatedAt !== state.seen) setState({ ...state, seen: record.updatedAt, reading: false });
  return {
    record,
    expectedUpdatedAt: state.seen,
    hasEditConflict: state.hasEditConflict,
    settle(changed, isEditConflict) {
      if (changed) {
        const own = { ...record, ...changed };
        setState({ own, seen: own.updatedAt, hasEditConflict: false, reading: false });
      } else setState((current) => ({ ...current, hasEditConflict: isEditConflict, reading: isEditConflict }));
      if (changed || isEditConflict) readAgain();
    },
  };
}

interface Edit<R> extends Action {
  /** Sends a mutation of the version. Returns its data; null when it failed. @param toChanged Returns the changed record. */
  edit<Data, Variables extends AnyVariables & { expectedUpdatedAt: string }>(
    mutation: TypedDocumentNode<Data, Variables>,
    variables: Omit<Variables, 'expectedUpdatedAt'>,
    toChanged?: (data: Succeeded<Data>) => Partial<R> & Versioned,
  ): Promise<Succeeded<Data> | null>;
}

/** Returns a function that edits the version of a record, with its state, and one for other mutations. */
export function useEdit<R>({ expectedUpdatedAt, settle }: Version<R>): Edit<R> {
  const action = useAction();
  const edit: Edit<R>['edit'] = async (mutation, variables, toChanged) => {
    const { data, isEditConflict } = await action.run(mutation, { ...variables, expectedUpdatedAt } as never);
    settle(data && toChanged?.(data), isEditConflict);
    return data;
  };
  return { ...action, edit };
}

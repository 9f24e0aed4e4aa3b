import { useState } from 'react';

interface Versioned {
  updatedAt: string;
}

interface Version<R> {
  /** The record as it was last read, or as the person's own change left it. */
  record: R;
  /** `updatedAt` of what the person has seen, so that the service rejects an edit of a record that another person has changed since. */
  expectedUpdatedAt: string;
  /** Whether the last edit was not saved, because another person had changed the record. */
  hasEditConflict: boolean;
  /** Applies the outcome of an edit: the changed properties, or an edit conflict, after which the record is read again. */
  settle(changed: (Partial<R> & Versioned) | null | undefined, isEditConflict: boolean): void;
}

/**
 * Returns the version of a record that a person edits. After an edit conflict it is that of the next read, so that the person can decide
 * again.
 */
export function useVersion<R extends Versioned>(read: R): Version<R> {
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
    },
  };
}

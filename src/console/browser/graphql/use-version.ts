import { useState } from 'react';

interface Versioned {
  updatedAt: string;
}

interface Version<R> {
  /** The record as it was last read, or as the person's own change left it. */
  record: R;
  /** `updatedAt` of what the person has seen: a change by somebody else is reported instead of overwritten. */
  expectedUpdatedAt: string;
  /** Whether somebody else changed the record before the last change, which was not saved. */
  overtaken: boolean;
  /** Takes the outcome of a change: the changed properties, or that somebody else was faster and the record is being read again. */
  settle(changed: (Partial<R> & Versioned) | null | undefined, overtaken: boolean): void;
}

/** Returns the version of a record that a person changes. After a conflict it is that of the next read, so that the person can decide again. */
export function useVersion<R extends Versioned>(read: R): Version<R> {
  const [state, setState] = useState({ own: read, seen: read.updatedAt, overtaken: false, reading: false });
  const record = state.own.updatedAt > read.updatedAt ? state.own : read;
  if (state.reading && record.updatedAt !== state.seen) setState({ ...state, seen: record.updatedAt, reading: false });
  return {
    record,
    expectedUpdatedAt: state.seen,
    overtaken: state.overtaken,
    settle(changed, overtaken) {
      if (changed) {
        const own = { ...record, ...changed };
        setState({ own, seen: own.updatedAt, overtaken: false, reading: false });
      } else setState((current) => ({ ...current, overtaken, reading: overtaken }));
    },
  };
}

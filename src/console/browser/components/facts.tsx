import type { ReactNode } from 'react';
import { formatInstant } from '../shared/format.ts';
import { useScope } from '../shared/scope.tsx';

/** A pair of a term and its value; pairs without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([term, value]) => (
          <div key={term} style={{ display: 'contents' }}>
            <dt className="soft">{term}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** An instant in the time zone of the builder. */
export const Instant = ({ at, seconds }: { at: string; seconds?: boolean }) => {
  const { timeZone } = useScope();
  return (
    <time dateTime={at} className="nowrap">
      {formatInstant(at, timeZone, seconds)}
    </time>
  );
};

/** Words for the types of events. */
export const EVENT_NAMES = { SIGN_ON: 'Sign-on', SIGN_OFF: 'Sign-off' } as const;

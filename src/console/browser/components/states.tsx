import type { ReactNode } from 'react';
import { describeError, type RequestError } from '../graphql/errors.ts';
import { Glyph } from './glyph.tsx';

/** Placeholder while data loads; screen readers hear it once. */
export const Loading = ({ lines = 6 }: { lines?: number }) => (
  <div className="skeleton" role="status">
    <span className="visually-hidden">Loading</span>
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the lines have no identity.
      <span key={line} aria-hidden="true" />
    ))}
  </div>
);

export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="state">
    <Glyph name="empty" />
    <strong>{title}</strong>
    {children}
  </div>
);

const Failure = ({ error, onRetry }: { error: RequestError; onRetry?: () => void }) => {
  const { title, detail } = describeError(error);
  return (
    <div className="state" role="alert">
      <Glyph name={error.networkError ? 'offline' : 'alert'} />
      <strong>{title}</strong>
      <span className="wrap">{detail}</span>
      {onRetry && (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
};

interface RequestState<Data> {
  data: Data | undefined;
  error: RequestError | undefined;
  retry: () => void;
}

/** Shows data, or why there is none: loading, or an error. Data that was loaded before remains while a later request fails. */
export function Loaded<Data>({
  request: { data, error, retry },
  lines,
  children,
}: {
  request: RequestState<Data>;
  lines?: number;
  children: (data: Data) => ReactNode;
}) {
  if (data !== undefined) return <>{children(data)}</>;
  if (error) return <Failure error={error} onRetry={retry} />;
  return <Loading lines={lines} />;
}

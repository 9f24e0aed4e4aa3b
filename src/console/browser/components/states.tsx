import { Component, type ReactNode } from 'react';
import { describeError, type RequestError } from '../graphql/errors.ts';
import type { Request } from '../graphql/use-request.ts';
import { Button } from './button.tsx';
import { Glyph, type GlyphName } from './glyph.tsx';

/** Placeholder while data loads; screen readers hear it once. */
export const Loading = ({ lines = 12 }: { lines?: number }) => (
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

interface FailureProps {
  glyph: GlyphName;
  title: string;
  detail: string;
  /** Label of the button that tries again. */
  button: string;
  onRetry: () => void;
}

const Failure = ({ glyph, title, detail, button, onRetry }: FailureProps) => (
  <div className="state" role="alert">
    <Glyph name={glyph} />
    <strong>{title}</strong>
    <span className="wrap">{detail}</span>
    <Button onClick={onRetry}>{button}</Button>
  </div>
);

interface LoadedProps<Data> {
  request: Pick<Request<Data>, 'data' | 'error' | 'retry'>;
  lines?: number;
  /** Shown in place of lines while the data loads. */
  placeholder?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** Shows data, or why there is none: loading, or an error. Data that was loaded before remains while a later request fails. */
export function Loaded<Data>({ request, lines, placeholder = <Loading lines={lines} />, children }: LoadedProps<Data>) {
  const { data, error, retry } = request;
  if (data !== undefined) return <>{children(data)}</>;
  if (!error) return placeholder;
  const glyph = error.networkError ? 'offline' : 'alert';
  return <Failure glyph={glyph} {...describeError(error)} button="Try again" onRetry={retry} />;
}

/** A message about why an action failed. */
export function Problem({ error }: { error: RequestError | undefined }) {
  if (!error) return null;
  const { title, detail } = describeError(error);
  return (
    <p className="notice bad" role="alert">
      <strong>{title}.</strong> {detail}
    </p>
  );
}

interface RenderFailureProps {
  /** URL of the page. A change renders the page again. */
  address: string;
  children: ReactNode;
}

/** Error boundary of a page: a wrong value in the URL, or an upgrade of the service, would otherwise leave the whole window empty. */
export class RenderFailure extends Component<RenderFailureProps, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidUpdate(previous: RenderFailureProps) {
    if (this.state.failed && previous.address !== this.props.address) this.setState({ failed: false });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Failure
        glyph="alert"
        title="This page cannot be shown"
        detail="Its address may have a wrong value, or the service was upgraded."
        button="Load it again"
        onRetry={() => location.reload()}
      />
    );
  }
}

import { Component, type ReactNode } from 'react';
import { Glyph } from './glyph.tsx';

interface Props {
  /** URL of the page. A change renders the page again. */
  address: string;
  children: ReactNode;
}

/** Error boundary of a page: a wrong value in the URL, or an upgrade of the service, would otherwise leave the whole window empty. */
export class RenderFailure extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidUpdate(previous: Props) {
    if (this.state.failed && previous.address !== this.props.address) this.setState({ failed: false });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="state" role="alert">
        <Glyph name="alert" />
        <strong>This page cannot be shown</strong>
        <span>Its address may have a wrong value, or the service was upgraded.</span>
        <button type="button" onClick={() => location.reload()}>
          Load it again
        </button>
      </div>
    );
  }
}

import { Component, type ReactNode } from 'react';
import { Glyph } from './glyph.tsx';

interface Props {
  /** Address of the page; another one is tried anew. */
  address: string;
  children: ReactNode;
}

/** Shows that a page failed, where the whole window would be empty: of a wrong value in the address, or after an upgrade of the service. */
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

/** The used part of the package's API; the package has no type declarations. */
declare module 'cli-progress' {
  import type { Writable } from 'node:stream';

  interface CommandOptions {
    format?: string;
    stream?: Writable;
    hideCursor?: boolean;
    clearOnComplete?: boolean;
    barCompleteChar?: string;
    barIncompleteChar?: string;
  }

  export class SingleBar {
    constructor(options: CommandOptions);
    start(total: number, value: number, payload: Record<string, string>): void;
    update(value: number, payload: Record<string, string>): void;
    stop(): void;
  }

  const progress: { SingleBar: typeof SingleBar };
  export default progress;
}

/** What is used of the package, which brings no types. */
declare module 'cli-progress' {
  import type { Writable } from 'node:stream';

  interface Options {
    format?: string;
    stream?: Writable;
    hideCursor?: boolean;
    clearOnComplete?: boolean;
    barCompleteChar?: string;
    barIncompleteChar?: string;
  }

  export class SingleBar {
    constructor(options: Options);
    start(total: number, value: number, payload: Record<string, string>): void;
    update(value: number, payload: Record<string, string>): void;
    stop(): void;
  }

  const progress: { SingleBar: typeof SingleBar };
  export default progress;
}

/** The poll that found that records of the builder changed. */
export interface LiveState {
  /** Grows with each such poll. */
  version: number;
  /** Cursor of the poll; null before the first. */
  cursor: string | null;
  /** Milliseconds of the monotonic clock at which it was sent. */
  polledAt: number;
}

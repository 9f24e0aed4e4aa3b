/** Upper bounds of the buckets in seconds: the usual ones of Prometheus. */
export const BUCKET_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts durations by bucket, for metrics. */
export class DurationHistogram {
  /** Durations of each bucket, without those of lower ones; the last are above all bounds. */
  readonly counts: number[] = new Array(BUCKET_BOUNDS.length + 1).fill(0);
  /** All durations together, in seconds. */
  seconds = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < BUCKET_BOUNDS.length && seconds > BUCKET_BOUNDS[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.seconds += seconds;
  }
}

/** Label of everything beyond the maximum number of labels. */
const OTHER = 'other';

/** Events of one label: their number by outcome, and their seconds in total. */
interface LabelCounts {
  seconds: number;
  outcomes: Map<string, number>;
}

/** Counts events and their durations by label, for metrics. Labels beyond a maximum are counted together as `other`. */
export class DurationCounts {
  readonly #maxLabels: number;
  readonly #labels = new Map<string, LabelCounts>();

  constructor(maxLabels: number) {
    this.#maxLabels = maxLabels;
  }

  add(label: string, outcome: string, seconds: number): void {
    const counts = this.#labels.get(label) ?? this.#create(label);
    counts.seconds += seconds;
    counts.outcomes.set(outcome, (counts.outcomes.get(outcome) ?? 0) + 1);
  }

  /** Runs the work and counts it as `ok`, or as `error` when it throws. */
  async measure<T>(label: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let outcome = 'error';
    try {
      const result = await work();
      outcome = 'ok';
      return result;
    } finally {
      this.add(label, outcome, (performance.now() - startedAt) / 1000);
    }
  }

  entries(): IterableIterator<[label: string, counts: LabelCounts]> {
    return this.#labels.entries();
  }

  #create(label: string): LabelCounts {
    const name = this.#labels.size < this.#maxLabels ? label : OTHER;
    const counts = this.#labels.get(name) ?? { seconds: 0, outcomes: new Map() };
    this.#labels.set(name, counts);
    return counts;
  }
}

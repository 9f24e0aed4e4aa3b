/**
 * What editors change by themselves: the line ending, spaces before it, no-break spaces, and the Unicode form of characters that are
 * composed, or may be.
 */
const CHANGEABLE =
  /(?<lineEnd>\r\n|[\r\u0085\u2028\u2029])|(?<trailing>[ \t\u00a0\u2007\u202f]+(?=[\r\n\u0085\u2028\u2029]|$))|(?<space>[\u00a0\u2007\u202f])|[\u1100-\u11ff\uac00-\ud7a3]+|[^\p{M}\r\n]?\p{M}+|[^\p{ASCII}\p{M}]/gu;

/** The same position in a text and in its folded form. */
interface Point {
  original: number;
  folded: number;
}

/** A text with one spelling for what editors change by themselves: texts that differ in nothing else are equal when folded. */
export class FoldedText {
  readonly text: string;
  /** Starts and ends of what differs from the original, in ascending order. */
  readonly #points: Point[] = [{ original: 0, folded: 0 }];

  constructor(original: string) {
    let shift = 0;
    this.text = original.replace(CHANGEABLE, (match: string, ...details: unknown[]) => {
      const [at, , groups] = details.slice(-3) as [number, string, Record<string, string | undefined>];
      const folded = groups.lineEnd ? '\n' : groups.space ? ' ' : groups.trailing ? '' : match.normalize('NFC');
      if (folded.length !== match.length) {
        this.#points.push({ original: at, folded: at + shift });
        shift += folded.length - match.length;
        this.#points.push({ original: at + match.length, folded: at + match.length + shift });
      }
      return folded;
    });
  }

  toFolded = (index: number): number => this.#translate(index, 'original', 'folded');

  /** Returns the range of the original, with spaces at its start and end that are left out of the folded text. */
  toOriginal(start: number, end: number): { start: number; end: number } {
    const first = this.#points.find(({ folded }) => folded === start)?.original;
    return {
      start: first ?? this.#translate(start, 'folded', 'original'),
      end: this.#translate(end, 'folded', 'original'),
    };
  }

  #translate(index: number, from: keyof Point, to: keyof Point): number {
    const next = this.#points.findIndex((point) => point[from] > index);
    const last = this.#points.at(next === -1 ? -1 : next - 1)!;
    return Math.min(last[to] + index - last[from], this.#points[next]?.[to] ?? Number.POSITIVE_INFINITY);
  }
}

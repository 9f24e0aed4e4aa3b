import { TimeSlice } from './time-slice.ts';

/** Maximum characters that are parsed at once. */
const PIECE_LENGTH = 256 * 1024;

/** Characters and strings after which a search checks whether its slice of time is over: some tenths of a millisecond. */
const STEPS_PER_CHECK = 16_384;

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_BRACKET = 91;
const OPEN_BRACE = 123;
const CLOSE_BRACKET = 93;
const CLOSE_BRACE = 125;

/** Returns the value of valid JSON, parsed in pieces between which the event loop serves other requests. */
export const parseJsonInSlices = async (text: string): Promise<unknown> =>
  text.length <= PIECE_LENGTH ? JSON.parse(text) : new SlicedParser(text).parse(0, text.length);

class SlicedParser {
  readonly #text: string;
  readonly #slice = new TimeSlice();

  constructor(text: string) {
    this.#text = text;
  }

  /** Parses the value between two indexes: at once where it is short or a leaf, otherwise member by member. */
  async parse(start: number, end: number): Promise<unknown> {
    let first = start;
    while (isSpace(this.#text.charCodeAt(first))) first++;
    const open = this.#text.charCodeAt(first);
    if (end - first <= PIECE_LENGTH || (open !== OPEN_BRACE && open !== OPEN_BRACKET)) {
      if (this.#slice.isOver) await this.#slice.next();
      return JSON.parse(this.#text.slice(first, end));
    }
    return open === OPEN_BRACE ? this.#parseObject(first + 1) : this.#parseArray(first + 1);
  }

  async #parseArray(start: number): Promise<unknown[]> {
    const items: unknown[] = [];
    for (let at = start, end = start; ; at = end + 1) {
      end = await this.#endOfMember(at);
      // There is an item: an empty array is short.
      items.push(await this.parse(at, end));
      if (this.#text.charCodeAt(end) === CLOSE_BRACKET) return items;
    }
  }

  async #parseObject(start: number): Promise<Record<string, unknown>> {
    const members: [name: string, value: unknown][] = [];
    for (let at = start, end = start; ; at = end + 1) {
      const name = this.#text.indexOf('"', at);
      const nameEnd = findEndOfString(this.#text, name);
      const colon = this.#text.indexOf(':', nameEnd);
      end = await this.#endOfMember(colon + 1);
      members.push([JSON.parse(this.#text.slice(name, nameEnd + 1)), await this.parse(colon + 1, end)]);
      // An assignment would set the prototype for the name `__proto__`.
      if (this.#text.charCodeAt(end) === CLOSE_BRACE) return Object.fromEntries(members);
    }
  }

  /** Returns the index of the comma or bracket that ends a member. */
  async #endOfMember(start: number): Promise<number> {
    const text = this.#text;
    let depth = 0;
    for (let at = start, steps = 1; at < text.length; at++, steps++) {
      if (steps % STEPS_PER_CHECK === 0 && this.#slice.isOver) await this.#slice.next();
      const code = text.charCodeAt(at);
      if (code === QUOTE) at = findEndOfString(text, at);
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (depth-- === 0) return at;
      } else if (code === 44 && depth === 0) return at;
    }
    throw new SyntaxError('Unexpected end of JSON.');
  }
}

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);

/** Returns the index of the quotation mark that ends a string; the length of the text where there is none. */
export function findEndOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    // An even number of backslashes does not escape the quotation mark.
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}

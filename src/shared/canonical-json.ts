import { createHash } from 'node:crypto';

/**
 * Canonical JSON, RFC 8785: members in the order of their names' UTF-16 code units, numbers and strings as ECMAScript writes
 * them. Fields that are undefined are absent. Throws on a number that is not finite.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number.`);
    return JSON.stringify(value);
  }
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text && ','}${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const object = value as Record<string, unknown>;
  for (const name of Object.keys(object).sort()) {
    const member = object[name];
    if (member !== undefined) text += `${text && ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

/**
 * Canonical JSON of a large value as UTF-8, with room before and after it. Unlike `canonicalJson` it keeps no text of the whole,
 * whose parts would take several times as much memory as its characters.
 *
 * @param margin Bytes of room on either side.
 */
export function canonicalJsonBytes(value: unknown, margin = 0): { buffer: ArrayBuffer; start: number; end: number } {
  const writer = new Utf8Writer(margin);
  writeValue(value, writer);
  return writer.finish(margin);
}

function writeValue(value: unknown, writer: Utf8Writer): void {
  if (value === null || typeof value !== 'object') {
    writer.write(canonicalJson(value));
  } else if (Array.isArray(value)) {
    writer.write('[');
    for (let at = 0; at < value.length; at++) {
      if (at > 0) writer.write(',');
      writeValue(value[at], writer);
    }
    writer.write(']');
  } else {
    const object = value as Record<string, unknown>;
    let opening = '{';
    for (const name of Object.keys(object).sort()) {
      if (object[name] === undefined) continue;
      writer.write(`${opening}${quoted(name)}:`);
      writeValue(object[name], writer);
      opening = ',';
    }
    writer.write(opening === '{' ? '{}' : '}');
  }
}

/** Characters that are collected before they are encoded: encoding each name by itself would take far longer. */
const CHUNK = 16_384;

/** Encodes a long text piece by piece. No piece ends within a surrogate pair. */
class Utf8Writer {
  #bytes: Buffer;
  #length: number;
  #text = '';

  constructor(start: number) {
    this.#bytes = Buffer.allocUnsafeSlow(start + 4 * CHUNK);
    this.#length = start;
  }

  write(text: string): void {
    this.#text += text;
    if (this.#text.length >= CHUNK) this.#flush(0);
  }

  finish(margin: number): { buffer: ArrayBuffer; start: number; end: number } {
    this.#flush(margin);
    return { buffer: this.#bytes.buffer as ArrayBuffer, start: margin, end: this.#length };
  }

  #flush(margin: number): void {
    const needed = this.#length + 3 * this.#text.length + margin;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    this.#length += this.#bytes.write(this.#text, this.#length);
    this.#text = '';
  }
}

const NOTHING_TO_ESCAPE = /^[ !#-[\]-~]*$/;

/** Most of a report is short and plain, and `JSON.stringify` takes long to be called. */
const quoted = (text: string) => (NOTHING_TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text));

/** SHA-256 of a text or its bytes, in hexadecimal. */
export const fingerprintOf = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

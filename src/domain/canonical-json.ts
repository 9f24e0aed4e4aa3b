import { createHash } from 'node:crypto';

/**
 * Returns canonical JSON (RFC 8785): members in the order of their names' UTF-16 code units, numbers and strings as in ECMAScript.
 * Undefined fields are omitted. Throws for a number that is not finite.
 */
export function canonicalJson(value: unknown): string {
  let text = '';
  writeValue(value, (part) => {
    text += part;
  });
  return text;
}

/**
 * Returns the canonical JSON of a large value in UTF-8, with free bytes before and after it. Unlike `canonicalJson` it does not build one
 * string, whose parts would take several times as much memory.
 *
 * @param margin free bytes on either side.
 */
export function canonicalJsonBytes(value: unknown, margin = 0): { buffer: ArrayBuffer; start: number; end: number } {
  const chunks = [Buffer.alloc(margin)];
  let text = '';
  // No part begins or ends within a surrogate pair, so that each chunk is encoded by itself.
  writeValue(value, (part) => {
    text += part;
    if (text.length < CHUNK_LENGTH) return;
    chunks.push(Buffer.from(text));
    text = '';
  });
  const { buffer, byteOffset, length } = Buffer.concat([...chunks, Buffer.from(text), Buffer.alloc(margin)]);
  return { buffer: buffer as ArrayBuffer, start: byteOffset + margin, end: byteOffset + length - margin };
}

function writeValue(value: unknown, write: (text: string) => void): void {
  if (typeof value === 'string') {
    write(toJsonString(value));
  } else if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number.`);
    write(JSON.stringify(value));
  } else if (Array.isArray(value)) {
    write('[');
    for (let index = 0; index < value.length; index++) {
      if (index > 0) write(',');
      writeValue(value[index], write);
    }
    write(']');
  } else {
    const object = value as Record<string, unknown>;
    let opening = '{';
    for (const name of Object.keys(object).sort()) {
      if (object[name] === undefined) continue;
      write(`${opening}${toJsonString(name)}:`);
      writeValue(object[name], write);
      opening = ',';
    }
    write(opening === '{' ? '{}' : '}');
  }
}

/** Characters that are encoded at once: encoding each name separately would take far longer. */
const CHUNK_LENGTH = 16_384;

const NOTHING_TO_ESCAPE = /^[ !#-[\]-~]*$/;

/** Returns the JSON string of a text. Calling `JSON.stringify` is slow for the many short texts of a report. */
const toJsonString = (text: string) => (NOTHING_TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text));

/** Returns the SHA-256 digest of a text or its bytes, in hexadecimal. */
export const createFingerprint = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

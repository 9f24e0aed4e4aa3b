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

const NOTHING_TO_ESCAPE = /^[ !#-[\]-~]*$/;

/** Most of a report is short and plain, and `JSON.stringify` takes long to be called. */
const quoted = (text: string) => (NOTHING_TO_ESCAPE.test(text) ? `"${text}"` : JSON.stringify(text));

/** SHA-256 of a text or its bytes, in hexadecimal. */
export const fingerprintOf = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex');

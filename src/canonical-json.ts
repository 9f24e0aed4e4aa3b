import { createHash } from 'node:crypto';

/**
 * Canonical JSON, RFC 8785: members in the order of their names' UTF-16 code units, numbers and strings as ECMAScript writes
 * them. Fields that are undefined are absent. Throws on a number that is not finite.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number.`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  const object = value as Record<string, unknown>;
  const members = Object.keys(object)
    .filter((name) => object[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(object[name])}`);
  return `{${members.join()}}`;
}

/** SHA-256 of a text, in hexadecimal. */
export const fingerprintOf = (text: string) => createHash('sha256').update(text).digest('hex');

import { ApiError, ValidationError } from '../shared/errors.ts';

/** Maximum fields in the response of a GraphQL request: records times selected fields. */
export const MAX_COST = 500_000;

/** Maximum fields of an interpreted response, with those of objects and lists within a record. */
export const MAX_INTERPRETED_COST = 100_000;

/** Cost of a read that may visit many rows, whatever it returns. */
export const SLOW_READ_COST = 500;

/** Cost of a page of events, for which as many may be scanned. Requests of one share with such a cost execute one after the other. */
export const EVENT_PAGE_COST = 5_000;

/** Maximum bytes of a GraphQL response. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/**
 * 400 on the field `query`, with the limit that the count exceeds in its extensions.
 *
 * @param cost Whole cost of the document, or bytes of its response, in the extensions too; absent where it is not known yet.
 */
export function costLimitExceeded(what: string, count: number, limit: number, cost?: number): ApiError {
  const message = `must not ${what}: it has ${count}, and the limit is ${limit}`;
  return new ValidationError([{ fieldName: 'query', message }], { ...(cost !== undefined && { cost }), limit });
}

/** Counts the fields and bytes of a response while it is built, in compiled and interpreted operations. */
export class ResponseMeter {
  /** Fields of records. An object or list in a record counts as one field. */
  fields = 0;
  bytes = 0;
  /** Cost of the reads that may visit many rows. */
  readCost = 0;
  /** The error that the request was rejected with; further checks throw it again. */
  rejection: ApiError | null = null;
  /** Bytes of large values that were read for the response. */
  #heldBytes = 0;
  /** Unlimited by default: REST responses are not rejected for their size. */
  #maxFields = Number.POSITIVE_INFINITY;
  #maxBytes = Number.POSITIVE_INFINITY;
  /** Estimated cost of the whole operation. */
  #estimate = 0;

  /** Cost of what was executed so far. */
  get cost(): number {
    return this.fields + this.readCost;
  }

  limit(maxFields: number, maxBytes: number, estimate = 0): void {
    this.#estimate = estimate;
    this.#maxFields = maxFields;
    this.#maxBytes = maxBytes;
  }

  /** An execution ends at its limit. The estimate is that of the whole operation. */
  get #wholeCost(): number {
    return Math.max(this.fields, this.#estimate);
  }

  /** Counts bytes of large values that were read; throws 400 where they exceed the limit of a response. */
  hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes <= this.#maxBytes) return;
    this.rejection ??= costLimitExceeded('read so many bytes', this.#heldBytes, this.#maxBytes, this.#heldBytes);
    throw this.rejection;
  }

  /** Throws 400 where a count exceeds its limit. */
  check(): void {
    if (this.fields <= this.#maxFields && this.bytes <= this.#maxBytes && !this.rejection) return;
    const cost = this.#wholeCost;
    this.rejection ??=
      this.fields > this.#maxFields
        ? costLimitExceeded('select so many fields of so many records', cost, this.#maxFields, cost)
        : costLimitExceeded('have so many bytes in its response', this.bytes, this.#maxBytes, this.bytes);
    throw this.rejection;
  }

  /**
   * Returns the bytes of a value in JSON. Without a limit, a long text counts its characters: finding those that JSON escapes takes
   * 2 ms per megabyte.
   */
  sizeOf(value: unknown): number {
    return jsonSize(value, this.#maxBytes === Number.POSITIVE_INFINITY ? toQuotedLength : textSize);
  }

  /** Resets the counts for an execution by graphql-js, whose limit is lower because each field takes many times as long. */
  beginInterpreted(): void {
    if (this.#maxFields !== Number.POSITIVE_INFINITY) this.#maxFields = MAX_INTERPRETED_COST;
    this.fields = 0;
    this.bytes = 0;
    this.#heldBytes = 0;
  }
}

/** Maximum characters of a text whose bytes are estimated by its length. */
const SHORT_TEXT = 1_024;

/** Matches a character that JSON escapes: a control character, a quotation mark or a backslash. */
const ESCAPED = /[^ !#-[\]-\uffff]/;

/** The last measured text: a query may select one large text under many aliases. */
let measuredText = '';
let measuredBytes = 2;

const toQuotedLength = (text: string) => text.length + 2;

/** Returns the bytes of a text in JSON, exactly for long texts. */
function textSize(text: string): number {
  if (text.length <= SHORT_TEXT) return text.length + 2;
  if (text === measuredText) return measuredBytes;
  measuredText = text;
  measuredBytes = ESCAPED.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2;
  return measuredBytes;
}

/** Returns the bytes of a value in JSON, without the name and punctuation of its own field. */
function jsonSize(value: unknown, sizeOfText: (text: string) => number): number {
  if (typeof value === 'string') return sizeOfText(value);
  if (typeof value !== 'object' || value === null) return 6;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += jsonSize(item, sizeOfText) + 1;
  else {
    for (const name in value) size += name.length + 4 + jsonSize((value as Record<string, unknown>)[name], sizeOfText);
  }
  return size;
}

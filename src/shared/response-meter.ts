import { ApiError, ValidationError } from './errors.ts';

/** Most fields of records that one GraphQL request may select: records times selected fields. */
export const MAX_COST = 500_000;

/** Most fields that are interpreted, those of objects and lists within a record counted each time. */
const MAX_INTERPRETED_COST = 100_000;

/** Most bytes of a GraphQL response. */
export const MAX_RESPONSE_BYTES = 64 * 1024 * 1024;

/** 400 on the field `query`. Its extensions hold the cost and the limit. */
export function costLimitExceeded(what: string, cost: number, limit: number): ApiError {
  const message = `must not ${what}: it has ${cost}, and the limit is ${limit}`;
  return new ValidationError([{ fieldName: 'query', message }], { cost, limit });
}

/** Counts what a response is built of while it is built, in compiled and in interpreted operations alike. */
export class ResponseMeter {
  /** Fields of records; those of objects and lists that a record holds are counted once for the record. */
  fields = 0;
  bytes = 0;
  /** What the request was rejected with; every further count throws the same. */
  rejection: ApiError | null = null;
  /** Bytes of large values that were read for the response. */
  #heldBytes = 0;
  /** None at first: REST responses are never rejected for their size. */
  #maxFields = Number.POSITIVE_INFINITY;
  #maxBytes = Number.POSITIVE_INFINITY;

  limit(maxFields: number, maxBytes: number): void {
    this.#maxFields = maxFields;
    this.#maxBytes = maxBytes;
  }

  /** Counts bytes of large values that were read; throws 400 where they are more than a response may have. */
  hold(bytes: number): void {
    this.#heldBytes += bytes;
    if (this.#heldBytes <= this.#maxBytes) return;
    this.rejection ??= costLimitExceeded('read so many bytes', this.#heldBytes, this.#maxBytes);
    throw this.rejection;
  }

  /** Throws 400 where more was counted than is allowed. */
  check(): void {
    if (this.fields <= this.#maxFields && this.bytes <= this.#maxBytes && !this.rejection) return;
    this.rejection ??=
      this.fields > this.#maxFields
        ? costLimitExceeded('select so many fields of so many records', this.fields, this.#maxFields)
        : costLimitExceeded('have so many bytes in its response', this.bytes, this.#maxBytes);
    throw this.rejection;
  }

  /**
   * Bytes of a value in JSON. Without a limit, those of a long text are about its characters: to look for the ones that JSON escapes
   * takes 2 ms of the event loop for each megabyte.
   */
  sizeOf(value: unknown): number {
    return jsonSize(value, this.#maxBytes === Number.POSITIVE_INFINITY ? lengthOf : textSize);
  }

  /** For a query that graphql-js executes from its beginning, which takes many times as long for each field. */
  beginInterpreted(): void {
    if (this.#maxFields !== Number.POSITIVE_INFINITY) this.#maxFields = MAX_INTERPRETED_COST;
    this.fields = 0;
    this.bytes = 0;
    this.#heldBytes = 0;
  }
}

/** Characters up to which the bytes of a text are taken to be as many. */
const SHORT_TEXT = 1_024;

/** A control character, a quotation mark or a backslash: any but these from space on. */
const ESCAPED = /[^ !#-[\]-\uffff]/;

/** The text that was measured last: a query may select one large text under many aliases. */
let measuredText = '';
let measuredBytes = 2;

const lengthOf = (text: string) => text.length + 2;

/** Bytes of a text in JSON: exact for long ones. */
function textSize(text: string): number {
  if (text.length <= SHORT_TEXT) return text.length + 2;
  if (text === measuredText) return measuredBytes;
  measuredText = text;
  measuredBytes = ESCAPED.test(text) ? Buffer.byteLength(JSON.stringify(text)) : Buffer.byteLength(text) + 2;
  return measuredBytes;
}

/** Bytes of a value in JSON; a field's name and punctuation are not counted. */
function jsonSize(value: unknown, sizeOfText: (text: string) => number): number {
  if (typeof value === 'string') return sizeOfText(value);
  if (typeof value !== 'object' || value === null) return 6;
  let size = 2;
  if (Array.isArray(value)) for (const item of value) size += jsonSize(item, sizeOfText) + 1;
  else {
    for (const name in value) {
      size += name.length + 4 + jsonSize((value as Record<string, unknown>)[name], sizeOfText);
    }
  }
  return size;
}

import { ID_PREFIXES, type IdKind, idPattern } from './ids.ts';
import { formatFieldPath } from './input.ts';
import { isObject } from './is-object.ts';
import { findJsonProblems, JsonValueError } from './json-problems.ts';
import { fail, integerFromText, STANDARDS, scalar } from './scalar.ts';
import { hasLength, isCleanText, UNCLEAN } from './text.ts';

export function createIntegerScalar(
  name: string,
  description: string,
  minimum: number,
  maximum: number,
  example: number,
  byDefault?: number,
) {
  return scalar<number>({
    name,
    description: `${description}: an integer from ${minimum} to ${maximum}.`,
    jsonSchema: {
      type: 'integer',
      minimum,
      maximum,
      ...(byDefault !== undefined && { default: byDefault }),
      examples: [example],
    },
    fromText: integerFromText,
    parse: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum
        ? value
        : fail(`must be an integer from ${minimum} to ${maximum}`),
  });
}

/** Creates a scalar of texts that match a pattern. @param problem message for others */
export const createPatternScalar = (
  name: string,
  description: string,
  pattern: RegExp,
  example: string,
  problem: string,
) =>
  scalar<string>({
    name,
    description,
    jsonSchema: { type: 'string', pattern: pattern.source, examples: [example] },
    parse: (value) => (typeof value === 'string' && pattern.test(value) ? value : fail(problem)),
  });

const MAX_INT = 2147483647;

/** Items per page of every list (LST-2). */
export const DEFAULT_LIMIT = 25;
export const MAX_LIMIT = 25;

export const PageOffset = createIntegerScalar('PageOffset', 'Items to skip', 0, MAX_INT, 0, 0);
export const PageLimit = createIntegerScalar(
  'PageLimit',
  'Items to return',
  1,
  MAX_LIMIT,
  DEFAULT_LIMIT,
  DEFAULT_LIMIT,
);

const TIMESTAMP_EXAMPLE = '2026-03-02T07:30:00.000Z';

/** Output: ISO 8601 in UTC with milliseconds. Input: ISO 8601 date-time with an offset. IDN-7, IDN-8. */
export const Timestamp = scalar<string>({
  name: 'Timestamp',
  description: 'ISO 8601 date-time in UTC, such as `2026-03-02T07:30:00.000Z`.',
  jsonSchema: { type: 'string', format: 'date-time', examples: [TIMESTAMP_EXAMPLE] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    (typeof value === 'string' && toInstant(value)) || fail('must be an ISO 8601 date-time with a time zone'),
});

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T(\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Month and day of a date, except 29 February, which needs a calendar. */
const MONTH_DAY = '(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)';
/** Canonical timestamps, the most frequent ones. */
const CANONICAL = new RegExp(`^(?!0000)\\d{4}-${MONTH_DAY}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$`);

/** Returns an ISO 8601 date-time in UTC with milliseconds; null for an invalid one, such as 31 February. */
export function toInstant(text: string): string | null {
  if (CANONICAL.test(text)) return text;
  const match = DATE_TIME.exec(text);
  if (!match || !isCalendarDate(match[1]!)) return null;
  if (Number(match[2]) > 23 || Number(match[3]) > 59 || Number(match[4] ?? 0) > 59) return null;
  const instant = new Date(text);
  if (Number.isNaN(instant.getTime())) return null;
  const iso = instant.toISOString();
  // With an offset, the instant may be outside of the four-digit years that PostgreSQL accepts.
  return iso.length === 24 && !iso.startsWith('0000') ? iso : null;
}

function isCalendarDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00.000Z`);
  // PostgreSQL does not have the year 0.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && !text.startsWith('0000');
}

/** Pattern of both, for the OpenAPI document. */
const DATE_OR_DATE_TIME = '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2}))?$';

/**
 * @param time Time of a bare date in microseconds, by which `toDateRange` recognises one.
 * @param parseInstant Returns an instant in milliseconds; null for an invalid text.
 */
const rangeBound = (name: string, which: string, time: string, parseInstant: (text: string) => string | null) =>
  scalar<string>({
    name,
    description: `ISO 8601 date or date-time; ${which}, inclusive. A bare date is the whole day, in UTC unless a time zone is given.`,
    jsonSchema: {
      type: 'string',
      pattern: DATE_OR_DATE_TIME,
      examples: ['2026-03-02', '2026-03-02T07:30:00Z'],
    },
    specifiedBy: STANDARDS.dateTime,
    parse: (value) => {
      if (typeof value !== 'string') return fail('must be an ISO 8601 date or date-time');
      if (DATE.test(value)) return isCalendarDate(value) ? `${value}T${time}Z` : fail('is not a date of the calendar');
      return parseInstant(value) ?? fail('must be an ISO 8601 date or date-time');
    },
  });

/** A fraction of a millisecond, after the three digits of the milliseconds. */
const FRACTION = /\.\d{3}0*[1-9]/;

/** Returns the first instant in milliseconds that is not before the text's; null for an invalid text. */
function toNextInstant(text: string): string | null {
  const instant = toInstant(text);
  if (instant === null || !FRACTION.test(text)) return instant;
  const next = new Date(Date.parse(instant) + 1).toISOString();
  return next.length === instant.length ? next : instant;
}

/** Bounds of a range, as instants; a date without time is the first or last microsecond of its day. LST-11. */
export const RangeStart = rangeBound('RangeStart', 'the beginning of the range', '00:00:00.000000', toNextInstant);
export const RangeEnd = rangeBound('RangeEnd', 'the end of the range', '23:59:59.999999', toInstant);

export const JsonObject = scalar<Record<string, unknown>>({
  name: 'JsonObject',
  description: 'A free-form JSON object.',
  jsonSchema: { type: 'object', additionalProperties: true },
  specifiedBy: STANDARDS.json,
  parse: (value) => {
    if (!isObject(value)) return fail('must be an object');
    const problems = findJsonProblems(value);
    if (problems.length === 0) return value;
    throw new JsonValueError(problems.map(({ path, message }) => ({ fieldName: formatFieldPath('', path), message })));
  },
});

interface TextBounds {
  /** Minimum and maximum Unicode code points. */
  min?: number;
  max?: number;
  example?: string;
  specifiedBy?: string;
  /** The bounds in the message. Default: `1 to 80 characters`. */
  range?: string;
}

/** Returns text that PostgreSQL can store and that has `min` to `max` code points. For `parse` of a scalar. */
export function parseText(value: unknown, min: number, max: number, range: string): string {
  if (typeof value !== 'string') return fail('must be a string');
  if (!isCleanText(value)) return fail(UNCLEAN);
  return hasLength(value, min, max) ? value : fail(`must have ${range}`);
}

/** Creates a scalar for text without U+0000 and lone surrogates, which PostgreSQL cannot store, and of a bounded length. */
export function text(name: string, description: string, bounds: TextBounds = {}) {
  const { min = 0, max, example = 'text', specifiedBy } = bounds;
  const { range = max === undefined ? `at least ${min} characters` : `${min} to ${max} characters` } = bounds;
  return scalar<string>({
    name,
    description,
    jsonSchema: {
      type: 'string',
      minLength: min,
      ...(max === undefined ? {} : { maxLength: max }),
      examples: [example],
    },
    specifiedBy,
    parse: (value) => parseText(value, min, max ?? Number.POSITIVE_INFINITY, range),
  });
}

/** Creates a scalar for text of 1 to `max` characters. @param noun what it is, in its description */
export const createTextScalar = (name: string, noun: string, max: number, example: string, specifiedBy?: string) =>
  text(name, `${noun}, 1 to ${max} characters.`, { min: 1, max, example, specifiedBy });

/** Search text of a filter. */
export const FilterText = createTextScalar('FilterText', 'Text to compare with', 200, 'Professional indemnity');

/** Creates the scalar of the identifiers of a kind. */
export function createIdScalar(kind: IdKind, name: string, noun = `a ${kind}`) {
  const description = `Identifier of ${noun}, which begins with \`${ID_PREFIXES[kind]}_\`.`;
  return createIdPatternScalar(name, description, kind, idPattern(kind));
}

/** Creates a scalar of identifiers that match a pattern other than that of their kind. */
export function createIdPatternScalar(name: string, description: string, kind: IdKind, pattern: RegExp) {
  const example = `${ID_PREFIXES[kind]}_a0mkq3v8t2n4c7x1p9r5w6yzb`;
  return createPatternScalar(name, description, pattern, example, `must be an identifier like ${example}`);
}

export const BuilderId = createIdScalar('builder', 'BuilderId');
export const EventId = createIdScalar('event', 'EventId', 'an event');
export const ProjectId = createIdScalar('project', 'ProjectId');
export const SubcontractorId = createIdScalar('subcontractor', 'SubcontractorId');
export const SwmsId = createIdScalar('swms', 'SwmsId', 'a SWMS document');
export const PrequalificationId = createIdScalar('prequalification', 'PrequalificationId');
export const InsuranceId = createIdScalar('insurance', 'InsuranceId', 'an insurance');
export const ContactId = createIdScalar('contact', 'ContactId');
export const InductionId = createIdScalar('induction', 'InductionId', 'an induction');

const INDUCTION_KEY = new RegExp(`^[1-9][0-9]{0,9}$|${idPattern('induction').source}`);

export const InductionKey = scalar<string>({
  name: 'InductionKey',
  description: "An induction's `identifier` (its number in the project) or its `id`.",
  jsonSchema: { type: 'string', pattern: INDUCTION_KEY.source, examples: ['12'] },
  typescript: `\`${ID_PREFIXES.induction}_\${string}\` | \`\${number}\` | number`,
  parse: (value) => {
    const key = typeof value === 'number' ? String(value) : value;
    const isValid = typeof key === 'string' && INDUCTION_KEY.test(key) && !(Number(key) > MAX_INT);
    return isValid ? key : fail('must be the number or the identifier of an induction');
  },
});

export const WorkerId = createIdScalar('worker', 'WorkerId');
export const ProfileId = createIdScalar('profile', 'ProfileId', 'a person');
export const TimesheetId = createIdScalar('timesheet', 'TimesheetId');
export const TimesheetGroupId = createIdScalar('timesheetGroup', 'TimesheetGroupId', 'a group of timesheets');
export const CostCodeId = createIdScalar('costCode', 'CostCodeId', 'a cost code');
export const TimeTypeId = createIdScalar('timeType', 'TimeTypeId', 'a time type');
export const DefectId = createIdScalar('defect', 'DefectId');
export const LocationId = createIdScalar('location', 'LocationId', 'a place within a project');
export const SignOnEventId = createIdScalar('signOnEvent', 'SignOnEventId', 'a sign-on event');
export const SignOnVisitId = createIdScalar('signOnVisit', 'SignOnVisitId', 'a visit to a site');
export const RosterEntryId = createIdScalar('rosterEntry', 'RosterEntryId', 'an entry of a roster');
export const MeetingId = createIdScalar('meeting', 'MeetingId');
export const MeetingNoteId = createIdScalar('meetingNote', 'MeetingNoteId', 'a note of a meeting');
export const MeetingTemplateId = createIdScalar('meetingTemplate', 'MeetingTemplateId', 'a meeting template');
export const AttachmentId = createIdScalar('attachment', 'AttachmentId', 'a photo');
export const FolderId = createIdScalar('folder', 'FolderId', 'a photo folder');
export const PhotoReportId = createIdScalar('photoReport', 'PhotoReportId', 'a photo report');
export const PageId = createIdScalar('page', 'PageId', 'a page of a photo report');
export const UserId = createIdScalar('user', 'UserId');

const MAX_FILE_NAME = 255;

/** Returns the name of a file. Throws for one that is too long, is a path, has control characters, or was not sent in UTF-8. */
export function requireFileName(value: unknown): string {
  const name = parseText(value, 1, MAX_FILE_NAME, `1 to ${MAX_FILE_NAME} characters`);
  if (/[/\\\p{Cc}]/u.test(name) || /^\.\.?$/.test(name))
    return fail('must be a file name without a path or control characters');
  // The decoder's replacement for bytes that are not UTF-8, such as those of Latin-1.
  return name.includes('\ufffd') ? fail('must be a file name in UTF-8') : name;
}

export const FileName = scalar<string>({
  name: 'FileName',
  description: `Name of a file without a path, 1 to ${MAX_FILE_NAME} characters.`,
  jsonSchema: { type: 'string', minLength: 1, maxLength: MAX_FILE_NAME, examples: ['level-3-east.jpg'] },
  parse: requireFileName,
});

/** Maximum bytes of an attachment (UPL-2). */
export const MAX_ATTACHMENT_BYTES = 41_943_040;

export const FileSize = createIntegerScalar('FileSize', 'Bytes of a file', 1, MAX_ATTACHMENT_BYTES, 2_418_044);

export const PixelCount = createIntegerScalar('PixelCount', 'Width or height of an image', 1, MAX_INT, 4_032);

export const UploadHeaders = scalar<Record<string, string>>({
  name: 'UploadHeaders',
  description: 'Headers to send unchanged with the upload.',
  jsonSchema: {
    type: 'object',
    properties: {
      'Content-Length': { type: 'string', description: 'Number of bytes of the file.' },
      'Content-Type': { type: 'string', description: 'Media type of the file.' },
    },
    required: ['Content-Length', 'Content-Type'],
    examples: [{ 'Content-Length': '2418044', 'Content-Type': 'image/jpeg' }],
  },
  specifiedBy: STANDARDS.json,
  parse: () => fail('is given by the service'),
});

export const ExternalSourceId = createTextScalar(
  'ExternalSourceId',
  'Identifier in the other application',
  220,
  'walk-20260302-0017',
);

/** Key of a request that creates a record, as text or as a structured string (RFC 9651). */
export const IdempotencyKey = scalar<string>({
  name: 'IdempotencyKey',
  description:
    'Key of one creation: 1 to 255 visible ASCII characters, with or without the quotes of a structured string.',
  jsonSchema: {
    type: 'string',
    minLength: 1,
    pattern: '^[\\x21-\\x7e]+$',
    examples: ['8e03978e-40d5-43e8-bc93-6894a57f9324'],
  },
  parse: (value) => {
    const key = typeof value === 'string' && value.startsWith('"') ? parseStructuredString(value) : value;
    return typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)
      ? key
      : fail('must be 1 to 255 visible ASCII characters, or a structured string of them');
  },
});

const parseStructuredString = (text: string): string | null =>
  /^"(?:[^"\\]|\\["\\])*"$/.test(text) ? text.slice(1, -1).replace(/\\(.)/g, '$1') : null;

export const SourceApp = createTextScalar('SourceApp', 'Name of the other application', 80, 'site-notes');

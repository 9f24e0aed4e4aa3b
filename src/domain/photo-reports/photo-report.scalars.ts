import { fail, integerFromText, STANDARDS, scalar } from '../../../schema/scalar.ts';
import { isCleanText, toInstant, UNCLEAN } from '../../../schema/scalars.ts';
import { findDeepLinkError } from './deep-link.ts';
import { formatRange, hasLengthWithin, LIMITS, type Limit, PATTERNS, SCHEMA_VERSION } from './limits.ts';

/** Creates a scalar for text with a limited length. */
function createLimitedText(name: string, description: string, limit: Limit, example: string) {
  return scalar<string>({
    name,
    description: `${description}, ${formatRange(limit)}.`,
    jsonSchema: { type: 'string', minLength: limit.min, maxLength: limit.max, examples: [example] },
    parse: (value) => {
      if (typeof value !== 'string') return fail('must be a string');
      if (!isCleanText(value)) return fail(UNCLEAN);
      return hasLengthWithin(value, limit) ? value : fail(`must have ${formatRange(limit)}`);
    },
  });
}

const { sourceApp, sourceExternalId, authorExternalId, authorName, pageText, sourceBlockId } = LIMITS;

export const ReportSourceApp = createLimitedText(
  'ReportSourceApp',
  'Name of the application that the report comes from',
  sourceApp,
  'site-notes',
);
export const ReportExternalId = createLimitedText(
  'ReportExternalId',
  'Identifier of the report there',
  sourceExternalId,
  'walk-20260302-0017',
);
export const AuthorExternalId = createLimitedText(
  'AuthorExternalId',
  'Identifier of the author there',
  authorExternalId,
  'author-118',
);
export const AuthorName = createLimitedText('AuthorName', 'Name of the author', authorName, 'Mia Tran');
export const PageText = createLimitedText('PageText', 'Text of a page', pageText, 'Level 3, east facade');
export const SourceBlockId = createLimitedText(
  'SourceBlockId',
  'Identifier of a block, unique among its siblings',
  sourceBlockId,
  'block-0001',
);
export const FailureCode = createLimitedText(
  'FailureCode',
  'What failed, for machines',
  LIMITS.failureCode,
  'UPLOAD_FAILED',
);
export const FailureMessage = createLimitedText(
  'FailureMessage',
  'What failed, for people',
  LIMITS.failureMessage,
  'The photo could not be uploaded.',
);

const EMAIL = /^[^\s@]+@[^\s@]+$/;

export const AuthorEmail = scalar<string>({
  name: 'AuthorEmail',
  description: `E-mail address, ${formatRange(LIMITS.authorEmail)}.`,
  jsonSchema: {
    type: 'string',
    format: 'email',
    minLength: LIMITS.authorEmail.min,
    maxLength: LIMITS.authorEmail.max,
    examples: ['mia.tran@brightwire.example'],
  },
  specifiedBy: STANDARDS.email,
  parse: (value) => {
    if (typeof value !== 'string') return fail('must be a string');
    if (!isCleanText(value)) return fail(UNCLEAN);
    if (!hasLengthWithin(value, LIMITS.authorEmail)) return fail(`must have ${formatRange(LIMITS.authorEmail)}`);
    return EMAIL.test(value) ? value : fail('must be an e-mail address');
  },
});

function createInteger(name: string, description: string, { min, max }: Limit, example: number) {
  return scalar<number>({
    name,
    description: `${description}: an integer from ${min} to ${max}.`,
    jsonSchema: { type: 'integer', minimum: min, maximum: max, examples: [example] },
    fromText: integerFromText,
    parse: (value) =>
      typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : fail(`must be an integer from ${min} to ${max}`),
  });
}

export const SourceRevision = createInteger(
  'SourceRevision',
  'Revision of the report in its application, higher with every change',
  LIMITS.sourceRevision,
  7,
);

export const PageSchemaVersion = scalar<number>({
  name: 'PageSchemaVersion',
  description: `Version of the Page document: ${SCHEMA_VERSION}.`,
  jsonSchema: { type: 'integer', const: SCHEMA_VERSION, examples: [SCHEMA_VERSION] },
  parse: (value) => (value === SCHEMA_VERSION ? SCHEMA_VERSION : fail(`must be the integer ${SCHEMA_VERSION}`)),
});

/** Validated and stored unchanged, because the content of a report is the request as it was sent. */
export const SourceInstant = scalar<string>({
  name: 'SourceInstant',
  description: 'ISO 8601 date-time with a time zone.',
  jsonSchema: { type: 'string', format: 'date-time', examples: ['2026-03-02T07:30:00.000Z'] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    typeof value === 'string' && toInstant(value) ? value : fail('must be an ISO 8601 date-time with a time zone'),
});

export const DeepLink = scalar<string>({
  name: 'DeepLink',
  description: `Opens the report in its application: HTTPS or a scheme that the operator has permitted, without credentials, query string and fragment, ${formatRange(LIMITS.sourceDeepLink)}.`,
  jsonSchema: {
    type: 'string',
    minLength: LIMITS.sourceDeepLink.min,
    maxLength: LIMITS.sourceDeepLink.max,
    pattern: '^[A-Za-z][A-Za-z0-9+.\\-]*:[^?#]+$',
    examples: ['https://site-notes.example/walks/20260302-0017'],
  },
  specifiedBy: STANDARDS.uri,
  parse: (value) => {
    if (typeof value !== 'string') return fail('must be a string');
    const error = findDeepLinkError(value);
    return error === null ? value : fail(error);
  },
});

function createId(name: string, what: string, pattern: RegExp, example: string) {
  return scalar<string>({
    name,
    description: `Identifier of ${what}.`,
    jsonSchema: { type: 'string', pattern: pattern.source, examples: [example] },
    parse: (value) =>
      typeof value === 'string' && pattern.test(value) ? value : fail(`must be an identifier like ${example}`),
  });
}

export const ReportUserId = createId('ReportUserId', 'a user', PATTERNS.user, 'user_a0mkq3v8t2n4c7x1p9r5w6yzb');
export const ReportProjectId = createId(
  'ReportProjectId',
  'a project',
  PATTERNS.project,
  'proj_a0mkq3v8t2n4c7x1p9r5w6yzb',
);
export const ReportAttachmentId = createId(
  'ReportAttachmentId',
  'a photo',
  PATTERNS.attachment,
  'att_a0mkq3v8t2n4c7x1p9r5w6yzb',
);

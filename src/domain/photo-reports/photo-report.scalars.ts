import { JsonValueError } from '../../../schema/json-problems.ts';
import { fail, STANDARDS, scalar } from '../../../schema/scalar.ts';
import { createIdPatternScalar, createIntegerScalar, parseText, text, toInstant } from '../../../schema/scalars.ts';
import { findDeepLinkError } from './deep-link.ts';
import { DOCUMENT_TYPE, formatRange, LIMITS, type Limit, PATTERNS } from './limits.ts';
import { validatePageDocument } from './page-document.ts';
import { pageSchemas } from './page-schema.ts';
import { PreparedPage } from './prepared-page.ts';
import type { PageDocument } from './report-inputs.ts';

/** Creates a scalar for text with a limited length. */
function createLimitedText(name: string, description: string, limit: Limit, example: string) {
  const range = formatRange(limit);
  return text(name, `${description}, ${range}.`, { min: limit.min, max: limit.max, example, range });
}

const { sourceApp, sourceExternalId, authorExternalId, authorName } = LIMITS;

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
    const email = parseText(value, LIMITS.authorEmail.min, LIMITS.authorEmail.max, formatRange(LIMITS.authorEmail));
    return EMAIL.test(email) ? email : fail('must be an e-mail address');
  },
});

export const SourceRevision = createIntegerScalar(
  'SourceRevision',
  'Revision of the report in its application, higher with every change',
  LIMITS.sourceRevision.min,
  LIMITS.sourceRevision.max,
  7,
);

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

export const ReportUserId = createIdPatternScalar('ReportUserId', 'Identifier of a user.', 'user', PATTERNS.user);
export const ReportProjectId = createIdPatternScalar(
  'ReportProjectId',
  'Identifier of a project.',
  'project',
  PATTERNS.project,
);
/** A prepared page is one that a worker thread has validated. */
export const PageDocumentInput = scalar<PageDocument | PreparedPage>({
  name: DOCUMENT_TYPE,
  description:
    'A page as it is now, whole: content that it does not contain any more is removed. The OpenAPI document has its schema, `PageDocument`.',
  jsonSchema: { type: 'object', examples: [{ schemaVersion: 1, title: 'Level 3, east facade', blocks: [] }] },
  components: pageSchemas,
  typescript: 'Record<string, unknown>',
  parse: (value) => {
    const errors = value instanceof PreparedPage ? value.errors : validatePageDocument(value);
    if (errors.length > 0) throw new JsonValueError(errors);
    return value as PageDocument | PreparedPage;
  },
});

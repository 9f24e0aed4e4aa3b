/** Request bodies of the writes, as JSON Schema. The handlers check rules that concern more than one field. */

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });

export interface SignOnBody {
  sourceEventId: string;
  workerId: string;
  occurredAt: string;
  deviceId?: string | null;
}

/** Sign-ons only: no workload sends sign-offs. */
export const SIGN_ON_BODY = {
  type: 'object',
  required: ['sourceEventId', 'workerId', 'type', 'occurredAt'],
  properties: {
    sourceEventId: text(200),
    workerId: { ...text(200), pattern: '^wkr_[a-zA-Z0-9]+$' },
    type: { const: 'SIGN_ON' },
    occurredAt: { type: 'string', pattern: '(Z|\\+00:00)$', format: 'date-time' },
    deviceId: { ...text(200), nullable: true },
  },
};

/** The workload sends neither users nor deep links of the source application. */
export interface PhotoReportBody {
  sourceApp: string;
  sourceExternalId: string;
  sourceRevision: number;
  sourceCreatedAt: string;
  walkthroughDate: string;
  sourceAuthor: { externalId: string; name: string; email?: string | null };
  projectId?: string | null;
  page: { title: string; blocks: unknown[] };
}

export const PHOTO_REPORT_BODY = {
  type: 'object',
  required: [
    ...[
      'sourceApp',
      'sourceExternalId',
      'sourceRevision',
      'sourceCreatedAt',
      'walkthroughDate',
      'sourceAuthor',
      'page',
    ],
  ],
  properties: {
    sourceApp: text(80),
    sourceExternalId: text(220),
    sourceRevision: { type: 'integer', minimum: 1, maximum: 2147483647 },
    sourceCreatedAt: { type: 'string', format: 'date-time' },
    walkthroughDate: { type: 'string', format: 'date-time' },
    sourceAuthor: {
      type: 'object',
      required: ['externalId', 'name'],
      properties: { externalId: text(220), name: text(240), email: { ...text(320), nullable: true } },
    },
    projectId: { type: 'string', pattern: '^proj_[a-z0-9]+$', nullable: true },
    page: { type: 'object' },
  },
};

export const PHOTO_REPORT_BYTES = 32 * 1024 * 1024;

export interface TokenBody {
  grant_type?: string;
  client_id?: string;
  client_secret?: string;
  audience?: string;
  scope?: string;
}

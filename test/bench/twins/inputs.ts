import { createHmac } from 'node:crypto';
import { type Caller, HttpError, shareOf } from './service.ts';

/** Bodies of the writes, as JSON Schema for Fastify. What depends on more than one field is checked in code. */

const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength });

export interface SignOnBody {
  sourceEventId: string;
  workerId: string;
  occurredAt: string;
  deviceId?: string | null;
}

/** Sign-ons alone, which are what is measured. */
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

/** Without users and deep links of its application, which are not measured. */
export interface ReportBody {
  sourceApp: string;
  sourceExternalId: string;
  sourceRevision: number;
  sourceCreatedAt: string;
  walkthroughDate: string;
  sourceAuthor: { externalId: string; name: string; email?: string | null };
  projectId?: string | null;
  page: { title: string; blocks: unknown[] };
}

export const REPORT_BODY = {
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

export const REPORT_LIMIT = 32 * 1024 * 1024;

export interface TokenBody {
  grant_type?: string;
  client_id?: string;
  client_secret?: string;
  audience?: string;
  scope?: string;
}

export const oauthError = (status: number, error: string, error_description: string) =>
  new HttpError(status, { error, error_description }, { Pragma: 'no-cache' });

const key = createHmac('sha256', Buffer.from(process.env.TOKEN_KEY!, 'base64url')).update('storage urls v1').digest();

/** Address under which an image can be read for a quarter of an hour, by the caller; browsers save it under the name, if there is one. */
export function signedUrl(caller: Caller, objectKey: string, type: string, name: string | null, now: number): string {
  const expires = String(Math.floor(now / 1000) + 900);
  const issuer = shareOf(caller);
  const region = caller.region;
  const said = JSON.stringify(['GET', region, objectKey, type, null, name, expires, issuer]);
  const signature = createHmac('sha256', key).update(said).digest('base64url');
  const query = new URLSearchParams({ type, ...(name === null ? {} : { name }), issuer, expires, signature });
  return `${process.env.BASE_URL}/storage/${region}/${objectKey}?${query}`;
}

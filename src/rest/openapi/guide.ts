import { MAX_JSON_DEPTH } from '../../../schema/json-problems.ts';
import { MAX_LIMIT } from '../../../schema/scalars.ts';
import { ACCESS_TOKEN_SECONDS } from '../../auth/access-tokens.ts';
import { BODY_LIMIT } from '../../http/options.ts';
import { MAX_FIELD_ERRORS } from '../../shared/errors.ts';

/** Descriptions of the tags, in the order of the reference. */
export const TAGS: Record<string, string> = {
  Authentication: 'Access tokens: issue, revocation and introspection.',
  Identity: 'The authenticated caller and the builders that the access token gives access to.',
  Builders: 'Construction companies. Every other record belongs to one.',
  Projects: 'Building sites of a builder.',
  Subcontractors:
    'Companies that work for a builder, with their documents: SWMS (safe work method statement) documents, prequalifications, insurances and contacts. Archived subcontractors and their documents are not returned.',
  Inductions: "Introductions of workers to a project or company, and the workers' answers.",
  Timesheets: 'Hours worked, with the cost codes and time types that they are booked to.',
  Photos: 'Photos of a builder and the folders of its gallery.',
  'Photo reports': 'Reports of site walks, synchronised from another application.',
  Attachments: 'Uploads of images. Photos are created from them.',
  Meetings: 'Meetings of a builder and the notes that other applications sync to them.',
  Defects: 'Defective work on a project. Read-only.',
  'Gate attendance': 'Sign-on and sign-off events of gates. Limited pilot.',
  Events:
    'An addition to v1: every change of a record, as a feed that can be replayed completely and without gaps. The guide "Stay in sync" shows how to keep a copy.',
  Webhooks: 'Addresses to which events are delivered. An addition to v1.',
  Snapshots:
    "An addition to v1: a first copy of a builder's records as files, with the position of the feed from which events continue it.",
  'Request log': "An addition to v1: the integrator's own requests that failed, and the numbers of all.",
  Service: 'Whether the service runs. No token needed.',
};

/** Guides of tags, by the last part of their address. */
export const TAG_GUIDES: Record<string, string> = {
  Authentication: 'code-flow',
  Identity: 'contract/access',
  Builders: 'contract/reads',
  Projects: 'contract/reads',
  Subcontractors: 'contract/reads',
  Inductions: 'contract/reads',
  Timesheets: 'contract/reads',
  Photos: 'gallery-sync',
  'Photo reports': 'photo-reports',
  Attachments: 'contract/uploads',
  Meetings: 'meetings',
  Defects: 'contract/reads',
  'Gate attendance': 'attendance',
  Events: 'stay-in-sync',
  Webhooks: 'webhooks',
  Snapshots: 'stay-in-sync',
  'Request log': 'debugging',
};

/** Returns the introduction of the document, a summary of docs/contract in Markdown. */
export const createGuide = (baseUrl: string) =>
  `
An HTTP/JSON API through which approved integrators read and write construction-management data on behalf of builders
(construction companies).

# First request

Your client's credentials come from the operator. Ask for a token with the scopes that you need, then send it with every
request:

\`\`\`shell
curl ${baseUrl}/oauth/token \\
  --header 'Content-Type: application/json' \\
  --data '{
    "grant_type": "client_credentials",
    "client_id": "<CLIENT_ID>",
    "client_secret": "<CLIENT_SECRET>",
    "audience": "${baseUrl}",
    "scope": "read:builders read:projects"
  }'

curl ${baseUrl}/builders --header 'Authorization: Bearer <ACCESS_TOKEN>'
\`\`\`

\`GET /me\` returns the client or user of the token, its scopes and its builders. The same data can be queried as GraphQL at
\`${baseUrl}/graphql\`, with the same token and rules.

# Access

A token is valid for ${ACCESS_TOKEN_SECONDS} seconds. It is a JWT (\`AccessTokenClaims\`). It gives access to the builders that are connected to your
integration. Each connection has its own scopes: an operation needs its scope in the token and in the connection. A token of
the authorization-code flow gives access to the one builder that the user chose.

| Requested | Response |
|---|---|
| A builder that is not connected | 403 \`FORBIDDEN\` |
| A builder that does not exist | 404 \`NOT_FOUND\` |
| Anything else of a builder that is not connected | 404 \`NOT_FOUND\` |

# Headers

\`X-Service-Region-Id\` is the region of your client's account, \`au1\` (default) or \`us1\`. A token is valid in its region only.
\`X-Service-Builder-Id\` names the builder where the path does not: timesheets and the list of subcontractors. Every response has
an \`X-Request-Id\`: yours, or a generated one.

Repeat a create without an \`externalSourceId\` with the same \`Idempotency-Key\`, for 24 hours: it creates one record.

# Lists

A list returns \`{ "data": [...], "meta": { "totalCount", "totalPages", "offset", "limit" } }\`, at most ${MAX_LIMIT} records, in the order of
creation: records that are added while you read come last. Request the next page with \`offset\` until you have \`totalCount\`
records. An \`offset\` past the end returns an empty \`data\`. Cost codes and time types have one page: \`{ "data": [...] }\`.

Some additions to v1 help to keep a copy, beside the operations of the tag Events. With \`cursor\` in place of \`offset\`, empty for the
first page and then \`meta.nextCursor\`, every page takes the same time. \`updatedSince\` returns what was written since a time. With
\`order=desc\` a list has its newest records first, such as the latest ten timesheets with \`limit=10\`.

# Values

- Identifiers are a prefix and lower-case letters and digits, such as \`proj_a0mkq3v8t2n4c7x1p9r5w6yzb\`. The part after the prefix
  is opaque.
- Timestamps are ISO 8601 date-times in UTC. A date range includes both ends; a bare date is the whole day in
  UTC, or in the \`timeZone\` of the request, such as \`Australia/Sydney\`.
- An absent value is \`null\`. The few fields that are omitted instead say so.
- Values are never converted: \`"5"\` in place of a number is an error. Unknown fields of a body and unknown query parameters are
  ignored, except where a schema allows no others. New fields may be added to responses at any time.

# Errors

Invalid input is 400 and names every invalid field, at most ${MAX_FIELD_ERRORS}:

\`\`\`json
{ "errors": [{ "fieldName": "limit", "message": "must be an integer from 1 to ${MAX_LIMIT}" }] }
\`\`\`

Every other error is \`{ "code", "message" }\`. Decide by \`code\`, which is stable; \`message\` is for people. The token endpoint returns
the errors of RFC 6749, \`{ "error", "error_description" }\`.

- 401 \`UNAUTHENTICATED\`: get a new token, or check the region.
- 403 \`INSUFFICIENT_SCOPE\`: request the scope that \`WWW-Authenticate\` names, for the token or the connection.
- 403 \`FORBIDDEN\`: the builder has to be connected first.
- 404 \`NOT_FOUND\`: the id does not exist, or your token has no access to it.
- 405 \`METHOD_NOT_ALLOWED\`: \`Allow\` names the methods of the path.
- 408 \`REQUEST_TIMEOUT\`: the request did not arrive in time; send it again.
- 409, with a code that the operation lists: resolve the conflict; sending the request again does not help.
- 410 \`IDEMPOTENT_RECORD_GONE\`, 422 \`IDEMPOTENCY_KEY_REUSED\`: choose a new \`Idempotency-Key\`.
- 413 \`PAYLOAD_TOO_LARGE\`, 415 \`UNSUPPORTED_MEDIA_TYPE\`, 431 \`HEADERS_TOO_LARGE\`: change the request.
- 429 \`RATE_LIMITED\`, 503 \`UNAVAILABLE\`: wait as many seconds as \`Retry-After\` says.
- 500 \`INTERNAL\`: try again, then contact the operator with the \`X-Request-Id\`.

# Limits

| What | Limit |
|---|---|
| Requests per client | 1,000 in 10 seconds, unless the operator has set another limit |
| Token requests per client and per address | 120 in a minute, unless the operator has set another limit |
| Items of a page | ${MAX_LIMIT} |
| Body | ${BODY_LIMIT / 1024 ** 2} MiB, unless the operation says otherwise; ${MAX_JSON_DEPTH} levels of nesting |

\`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds) state the remaining budget.
`.trim();

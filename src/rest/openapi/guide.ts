import { MAX_LIMIT } from '../../../schema/scalars.ts';
import { ACCESS_TOKEN_SECONDS } from '../../auth/access-tokens.ts';
import { BODY_LIMIT } from '../../http/options.ts';
import { MAX_FIELD_ERRORS } from '../../shared/errors.ts';

/** Description of each tag, in the order of the reference, and the last part of the address of its guide. */
export const TAGS: Record<string, readonly [description: string, guide?: string]> = {
  Authentication: ['Access tokens: issue, revocation and introspection.', 'code-flow'],
  Identity: ['The authenticated caller and the builders that the access token gives access to.', 'contract/access'],
  Builders: ['Construction companies. Every other record belongs to one.', 'contract/reads'],
  Projects: ['Building sites of a builder.', 'contract/reads'],
  Subcontractors: [
    'Companies that work for a builder, with their documents: SWMS (safe work method statement) documents, prequalifications, insurances and contacts. Archived subcontractors and their documents are not returned.',
    'contract/reads',
  ],
  Inductions: ["Introductions of workers to a project or company, and the workers' answers.", 'contract/reads'],
  Timesheets: ['Hours worked, with the cost codes and time types that they are booked to.', 'contract/reads'],
  Photos: ['Photos of a builder and the folders of its gallery.', 'gallery-sync'],
  'Photo reports': ['Reports of site walks, synchronised from another application.', 'photo-reports'],
  Attachments: ['Uploads of images. Photos are created from them.', 'contract/uploads'],
  Meetings: ['Meetings of a builder and the notes that other applications sync to them.', 'meetings'],
  Defects: ['Defective work on a project. Read-only.', 'contract/reads'],
  'Gate attendance': ['Sign-on and sign-off events of gates. Limited pilot.', 'attendance'],
  Events: [
    'An addition to v1: every change of a record, as a feed that can be replayed completely and without gaps. The guide "Stay in sync" shows how to keep a copy.',
    'stay-in-sync',
  ],
  Webhooks: ['Addresses to which events are delivered. An addition to v1.', 'webhooks'],
  Snapshots: [
    "An addition to v1: a first copy of a builder's records as files, with the position of the feed from which events continue it.",
    'stay-in-sync',
  ],
  'Request log': ["An addition to v1: the integrator's own requests that failed, and the numbers of all.", 'debugging'],
  Service: ['Whether the service runs. No token needed.'],
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

# Rules

The pages that the headings link to have the rules in full.

- [Access](${baseUrl}/docs/guides/contract/access): a token is a JWT (\`AccessTokenClaims\`), valid for ${ACCESS_TOKEN_SECONDS} seconds in its region. An
  operation needs its scope in the token and in the builder's connection. A builder that is not connected is 403 \`FORBIDDEN\`; anything
  else of it, and what does not exist, 404 \`NOT_FOUND\`. A token of the authorization-code flow gives access to the builder that the user chose.
- [Headers](${baseUrl}/docs/guides/contract/headers): \`X-Service-Region-Id\` is the region of your client's account, \`au1\` (default) or
  \`us1\`. \`X-Service-Builder-Id\` names the builder where the path does not. Every response has an \`X-Request-Id\`: yours, or a generated
  one. Repeat a create without an \`externalSourceId\` with the same \`Idempotency-Key\`, for 24 hours: it creates one record.
- [Lists](${baseUrl}/docs/guides/contract/lists): at most ${MAX_LIMIT} records, in the order of creation. Request the next page with \`offset\` until you
  have \`totalCount\` records, or with \`cursor\`, an addition to v1, with which every page takes the same time.
- [Values](${baseUrl}/docs/guides/contract/identifiers): identifiers are opaque after their prefix, timestamps ISO 8601 in UTC, absent values
  \`null\`. Values are never converted: \`"5"\` in place of a number is an error. Unknown fields of a body and unknown query parameters are
  ignored, except where a schema allows no others. New fields may be added to responses at any time.
- [Errors](${baseUrl}/docs/guides/contract/errors): 400 names every invalid field, at most ${MAX_FIELD_ERRORS}: \`{ "errors": [{ "fieldName", "message" }] }\`.
  Every other error is \`{ "code", "message" }\`; decide by [\`code\`](${baseUrl}/docs/guides/error-codes), which is stable. The token endpoint returns
  the errors of RFC 6749. After 429 and 503 wait as many seconds as \`Retry-After\` says.
- [Limits](${baseUrl}/docs/guides/contract/limits): 1,000 requests in 10 seconds per client, and a body of ${BODY_LIMIT / 1024 ** 2} MiB, unless the operator or the
  operation says otherwise. \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds) state the remaining budget.
`.trim();

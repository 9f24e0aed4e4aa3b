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
  Service: 'Whether the service runs. No token needed.',
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

\`GET /me\` tells who you are, your scopes and the builders that you reach. The same data can be queried as GraphQL at
\`${baseUrl}/graphql\`, under the same token and rules.

# Access

A token lives ${ACCESS_TOKEN_SECONDS} seconds. It is a JWT with the claims \`sub\`, \`client_id\`, \`builder_id\` (authorization-code flow alone), \`iss\`,
\`aud\`, \`scope\`, \`jti\`, \`iat\` and \`exp\`; answers that hold one carry \`Cache-Control: no-store\` and \`Pragma: no-cache\`. It reaches the builders that are connected to your integration; each connection has scopes of
its own, and an operation needs its scope from both. A token of the authorization-code flow reaches the one builder that
the user chose.

| Addressed | Answer |
|---|---|
| A builder that is not connected | 403 \`FORBIDDEN\` |
| A builder that does not exist | 404 \`NOT_FOUND\` |
| Anything else of a builder that is not connected | 404 \`NOT_FOUND\` |

# Headers

| Header | Rule |
|---|---|
| \`Authorization\` | \`Bearer <ACCESS_TOKEN>\`, on every request. |
| \`X-Service-Api-Version\` | \`v1\`; may be left out. |
| \`X-Service-Region-Id\` | \`au1\` (default) or \`us1\`: the region of your client's account. A token holds in no other. |
| \`X-Service-Builder-Id\` | The builder, where the path names none: timesheets and the list of subcontractors. |
| \`X-Request-Id\` | An id of yours; one is made when there is none. It comes back on every answer. |

# Lists

A list answers \`{ "data": [...], "meta": { "totalCount", "totalPages", "offset", "limit" } }\`. Ask for the next page with
\`offset\` until you have \`totalCount\` items; \`limit\` is 1 to ${MAX_LIMIT}, and ${MAX_LIMIT} by default. Lists are in the order in which the
records were made, so records that are added while you page come last. An \`offset\` past the end gives an empty \`data\`.
Cost codes and time types are not paged: \`{ "data": [...] }\` holds them all.

Two additions to v1 help to keep a copy, beside the operations of the tag Events. With \`cursor\` in place of \`offset\`, empty for the
first page and then \`meta.nextCursor\`, a page costs the same at any position. \`updatedSince\` returns what was written since a time.

# Values

- Identifiers are a prefix and lower-case letters and digits, such as \`proj_a0mkq3v8t2n4c7x1p9r5w6yzb\`. What follows the prefix
  has no meaning for you.
- Timestamps are ISO 8601 date-times in UTC. A date range includes both its ends; a bare end date is that whole UTC day.
- A value that is absent is \`null\`. The few fields that are left out instead say so.
- Values are never converted: \`"5"\` where a number belongs is an error. Unknown fields of a body and unknown query
  parameters are ignored, except where a schema allows no others. New fields may be added to answers at any time.

# Errors

Wrong input is 400 with every failing field at once, at most ${MAX_FIELD_ERRORS}:

\`\`\`json
{ "errors": [{ "fieldName": "limit", "message": "must be an integer from 1 to ${MAX_LIMIT}" }] }
\`\`\`

Every other error is \`{ "code", "message" }\`. Decide by \`code\`, which is stable; \`message\` is for people.

- 401 \`UNAUTHENTICATED\`: get a new token, or check the region.
- 403 \`INSUFFICIENT_SCOPE\`: ask for the scope that \`WWW-Authenticate\` names, of the token or of the connection.
- 403 \`FORBIDDEN\`: the builder has to be connected first.
- 404 \`NOT_FOUND\`: check the id: there is none such, or it is out of reach.
- 405 \`METHOD_NOT_ALLOWED\`: \`Allow\` names the methods of the path.
- 408 \`REQUEST_TIMEOUT\`: the request did not arrive in time; send it again.
- 409, codes as the operation lists: reconcile; sending it again does not help.
- 413 \`PAYLOAD_TOO_LARGE\`: send less.
- 415 \`UNSUPPORTED_MEDIA_TYPE\`: send \`application/json\`, unless the operation says otherwise.
- 429 \`RATE_LIMITED\`: wait as many seconds as \`Retry-After\` says.
- 431 \`HEADERS_TOO_LARGE\`: address and headers may have 16 KiB together.
- 500 \`INTERNAL\`: try again, then ask with the \`X-Request-Id\`.
- 503 \`UNAVAILABLE\`: wait as many seconds as \`Retry-After\` says.

The token endpoint answers with the errors of RFC 6749, \`{ "error", "error_description" }\`.

# Limits

| What | Limit |
|---|---|
| Requests per client | 1,000 in 10 seconds, unless the operator has set another limit |
| Token requests per client and per address | 120 in a minute, unless the operator has set another limit |
| Items of a page | ${MAX_LIMIT} |
| Body | ${BODY_LIMIT / 1024 ** 2} MiB, unless the operation says otherwise; ${MAX_JSON_DEPTH} levels of nesting |

\`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` (seconds) tell where you stand.
`.trim();

import { REQUEST_BODIES } from '../../support/samples.ts';
import { type ContractOperation, isBuilderParameter, type Json } from './contract.ts';
import type { FuzzFixture, GeneratedRequest } from './fuzz-fixture.ts';
import {
  allowedValue,
  chance,
  type Draw,
  hostileText,
  hostileValue,
  mutateValue,
  pick,
  randomInteger,
} from './random-values.ts';

/** A request before it is serialized. */
interface Draft {
  method: string;
  path: string;
  pathParameters: Record<string, string>;
  query: [name: string, value: string][];
  headers: Record<string, string | string[]>;
  /** JSON, fields of a form, or the parts of a multipart form. */
  body: Json;
  type: string | null;
}

/** Returns a request to an operation of the document: a valid one with one change, or one with random values. */
export function generateRestRequest(draw: Draw, fixture: FuzzFixture): GeneratedRequest {
  const operation = pick(draw, fixture.contract.operations);
  if (operation.path.startsWith('/storage/')) return generateStorageRequest(draw, operation, fixture);
  const draft = generateValidDraft(draw, operation, fixture);
  if (chance(draw, 50)) return mutateDraft(draw, draft, fixture);
  return serialize(draw, randomize(draw, draft));
}

function generateValidDraft(draw: Draw, operation: ContractOperation, fixture: FuzzFixture): Draft {
  const { contract, samples, tokens } = fixture;
  const source = { samples, resolveReference: (schema: Json) => contract.resolveReference(schema) };
  const draft: Draft = {
    method: operation.method,
    path: operation.path,
    pathParameters: {},
    query: [],
    headers: {},
    body: undefined,
    type: null,
  };
  for (const parameter of operation.parameters) {
    const { name, in: location, required, schema } = parameter;
    if (location === 'path') draft.pathParameters[name] = chooseId(draw, name, schema, fixture);
    if (location === 'query' && (required || chance(draw, 30))) {
      for (const value of [allowedValue(draw, schema, source)].flat()) draft.query.push([name, String(value)]);
    }
    if (name === 'X-Service-Builder-Id' && (isBuilderParameter(parameter) || chance(draw, 20)))
      draft.headers[name] = samples.BuilderId!;
    else if (location === 'header' && chance(draw, 10))
      draft.headers[name] = String(allowedValue(draw, schema, source));
  }
  if (operation.operationId === 'authorize') draft.query = generateAuthorizationQuery(draw, fixture);
  if (!operation.path.startsWith('/oauth/') && !operation.path.startsWith('/health')) {
    draft.headers.Authorization = `Bearer ${tokens.authorized}`;
  }
  draft.type = pick(draw, [...Object.keys(operation.bodies), null].slice(0, Object.keys(operation.bodies).length || 1));
  if (draft.type) draft.body = generateBody(draw, operation, draft.type, fixture);
  return draft;
}

function chooseId(draw: Draw, name: string, schema: Json, { samples, contract }: FuzzFixture): string {
  if (name === 'identifierOrId') return samples.InductionKey!;
  if (name === 'prequalId') return samples.PrequalificationId!;
  return String(allowedValue(draw, schema, { samples, resolveReference: (one) => contract.resolveReference(one) }));
}

function generateBody(
  draw: Draw,
  { operationId, bodies }: ContractOperation,
  type: string,
  fixture: FuzzFixture,
): Json {
  const { samples, contract, client, tokens, baseUrl } = fixture;
  if (operationId === 'issueToken') {
    return { grant_type: 'client_credentials', ...toCredentials(client), audience: baseUrl, scope: 'read:builders' };
  }
  if (operationId === 'revokeToken' || operationId === 'introspectToken') {
    return {
      token: operationId === 'introspectToken' ? tokens.authorized : hostileText(draw),
      ...toCredentials(client),
    };
  }
  if (type === 'multipart/form-data') {
    return operationId === 'uploadAttachment'
      ? { type: 'attachment', file: fixture.picture }
      : { 'type:0': 'attachment', 'file:0': fixture.picture };
  }
  const createSample = REQUEST_BODIES[operationId];
  if (createSample && chance(draw, 60)) return createSample(samples);
  return allowedValue(draw, bodies[type], { samples, resolveReference: (schema) => contract.resolveReference(schema) });
}

const toCredentials = ({ clientId, clientSecret }: FuzzFixture['client']) => ({
  client_id: clientId,
  client_secret: clientSecret,
});

function generateAuthorizationQuery(
  draw: Draw,
  { publicClient: { clientId, redirectUri } }: FuzzFixture,
): [string, string][] {
  const query = {
    ...{
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'read:builders',
      state: 'af0ifjsldkj',
    },
    ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
  };
  return Object.entries(chance(draw, 50) ? query : { ...query, scope: hostileText(draw), state: hostileText(draw) });
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const TYPES = [
  'text/plain',
  'application/xml',
  'application/x-www-form-urlencoded',
  'application/json; charset=utf-16',
];
const MORE_TYPES = [
  'application/jsonx',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'application/json;',
  '*/*',
  'json',
  '',
];
const HEADERS = [
  ...[
    'X-Service-Api-Version',
    'X-Service-Region-Id',
    'X-Service-Builder-Id',
    'X-Request-Id',
    'Accept',
    'Accept-Encoding',
  ],
  ...[
    'Content-Encoding',
    'Content-Type',
    'Origin',
    'Cookie',
    'X-Forwarded-For',
    'X-HTTP-Method-Override',
    'Range',
    'If-None-Match',
  ],
];

/** Returns the request with one change. */
function mutateDraft(draw: Draw, draft: Draft, fixture: FuzzFixture): GeneratedRequest {
  const kinds = ['query', 'header', 'authorization', 'method', 'repeated'];
  if (Object.keys(draft.pathParameters).length > 0) kinds.push('path', 'path');
  if (draft.type) kinds.push('body', 'body', 'body', 'body', 'body', 'type', 'bytes');
  switch (pick(draw, kinds)) {
    case 'path':
      draft.pathParameters[pick(draw, Object.keys(draft.pathParameters))] = hostileText(draw);
      break;
    case 'query':
      if (draft.query.length > 0) pick(draw, draft.query)[1] = hostileText(draw);
      else
        draft.query.push([
          pick(draw, ['limit', 'offset', 'projectId', 'status', hostileText(draw)]),
          hostileText(draw),
        ]);
      break;
    case 'repeated':
      if (draft.query.length > 0) draft.query.push([...pick(draw, draft.query)]);
      else draft.query.push(['limit', '5'], ['limit', '6']);
      break;
    case 'header':
      draft.headers[pick(draw, HEADERS)] = headerText(draw);
      break;
    case 'authorization':
      draft.headers.Authorization = generateAuthorizationHeader(draw, fixture);
      break;
    case 'method':
      draft.method = pick(draw, METHODS);
      break;
    case 'type':
      draft.type = pick(draw, [...TYPES, ...MORE_TYPES]);
      break;
    case 'bytes':
      return damageBody(draw, serialize(draw, draft));
    default:
      draft.body = mutateValue(draw, draft.body);
  }
  return serialize(draw, draft);
}

function generateAuthorizationHeader(draw: Draw, { tokens, client: { clientId, clientSecret } }: FuzzFixture): string {
  const bearer = `Bearer ${pick(draw, [tokens.limitedScopes, tokens.otherIntegrator, tokens.internal, tokens.expired])}`;
  const cut = tokens.authorized.slice(0, -1 - randomInteger(draw, 60));
  const basic = `Basic ${Buffer.from(`${clientId}:${chance(draw, 50) ? clientSecret : hostileText(draw)}`).toString('base64')}`;
  return pick(draw, [
    bearer,
    bearer,
    `Bearer ${cut}`,
    basic,
    `Bearer ${headerText(draw)}`,
    headerText(draw),
    'Bearer',
    '',
  ]);
}

/** Returns a request in which only the route is valid. */
function randomize(draw: Draw, draft: Draft): Draft {
  for (const name of Object.keys(draft.pathParameters))
    if (chance(draw, 30)) draft.pathParameters[name] = hostileText(draw);
  for (let more = randomInteger(draw, 3); more > 0; more--)
    draft.query.push([queryName(draw, draft), hostileText(draw)]);
  for (let more = randomInteger(draw, 2); more > 0; more--) draft.headers[pick(draw, HEADERS)] = headerText(draw);
  if (draft.method !== 'GET')
    draft.body = chance(draw, 50) ? hostileValue(draw) : mutateValue(draw, mutateValue(draw, draft.body));
  draft.type ??= draft.method === 'GET' ? null : 'application/json';
  return draft;
}

const queryName = (draw: Draw, { query }: Draft) =>
  pick(draw, [
    ...query.map(([name]) => name),
    'limit',
    'offset',
    'projectId',
    'startDate',
    'endDate',
    'source',
    hostileText(draw),
    'access_token',
  ]);

/** Returns hostile text of characters that HTTP allows in a header. */
const headerText = (draw: Draw) =>
  hostileText(draw)
    .replace(/[^\x20-\x7e\x80-\xff]/g, '~')
    .trim()
    .slice(0, 4_000);

const encode = (text: string) => encodeURIComponent(text.toWellFormed());

/** Returns the request of the draft. Path parameters are sometimes not percent-encoded. */
function serialize(draw: Draw, { method, path, pathParameters, query, headers, body, type }: Draft): GeneratedRequest {
  const raw = chance(draw, 4);
  const encodePart = (text: string) =>
    raw ? text.replace(/[^\x21-\x7e]|[#?/ ]/g, '') || '%' : encode(text).slice(0, 12_000) || '%20';
  const pathname = path.replace(/\{(\w+)\}/g, (_, name: string) => encodePart(pathParameters[name]!));
  const search = query
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&')
    .slice(0, 12_000);
  const sent: GeneratedRequest = { method, url: search ? `${pathname}?${search}` : pathname, headers: { ...headers } };
  if (body === undefined && type === null) return sent;
  if (type?.startsWith('multipart/form-data') && isForm(body)) {
    sent.headers['Content-Type'] = 'multipart/form-data; boundary=b';
    sent.body = toMultipartBody(draw, body);
  } else {
    if (type !== null) sent.headers['Content-Type'] = type;
    sent.body = Buffer.from(
      type === 'application/x-www-form-urlencoded' ? toFormBody(body) : (JSON.stringify(body) ?? ''),
    );
  }
  return sent;
}

const isForm = (body: unknown): body is Record<string, unknown> => body !== null && typeof body === 'object';

const toFormBody = (body: unknown) =>
  isForm(body)
    ? Object.entries(body)
        .map(([name, value]) => `${encode(name)}=${encode(toText(value))}`)
        .join('&')
    : toText(body);

const toText = (value: unknown) => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

function toMultipartBody(draw: Draw, body: Record<string, unknown>): Buffer {
  const parts = Object.entries(body).flatMap(([name, value]) => {
    const isFile = Buffer.isBuffer(value);
    const fileName = chance(draw, 80) ? 'a.jpg' : hostileText(draw).slice(0, 400);
    const disposition = `form-data; name="${name}"${isFile ? `; filename="${fileName}"` : ''}`;
    const type = isFile ? `Content-Type: ${chance(draw, 80) ? 'image/jpeg' : headerText(draw)}\r\n` : '';
    return [
      Buffer.from(`--b\r\nContent-Disposition: ${disposition}\r\n${type}\r\n`),
      isFile ? value : Buffer.from(toText(value)),
      Buffer.from('\r\n'),
    ];
  });
  return Buffer.concat([...parts, Buffer.from('--b--\r\n')]);
}

/** Returns the request with a damaged body: truncated, with invalid UTF-8, repeated, or nested very deep. */
function damageBody(draw: Draw, sent: GeneratedRequest): GeneratedRequest {
  const body = sent.body ?? Buffer.alloc(0);
  const at = randomInteger(draw, body.length);
  const nested = Buffer.from(`${'{"a":['.repeat(5_000)}`);
  const changes = [
    body.subarray(0, at),
    Buffer.concat([body.subarray(0, at), Buffer.from([0xff, 0xfe, 0xc0]), body.subarray(at)]),
    Buffer.concat([body, body]),
    Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), body]),
    Buffer.from(body.toString('latin1').replace('{', '{"__proto__":{"x":1},'), 'latin1'),
    Buffer.from(body.toString('latin1').replace(/"(\w+)":/, '"$1":null,"$1":'), 'latin1'),
    nested,
  ];
  return { ...sent, body: pick(draw, changes) };
}

/** Returns a signed URL with one change. */
function generateStorageRequest(
  draw: Draw,
  { method }: ContractOperation,
  { signedUrls, picture }: FuzzFixture,
): GeneratedRequest {
  const url = method === 'PUT' ? signedUrls.upload : signedUrls.download;
  const [path, search = ''] = url.split('?');
  const pairs = [...new URLSearchParams(search)];
  const kind = randomInteger(draw, 3);
  if (kind === 0) pick(draw, pairs)[1] = hostileText(draw);
  if (kind === 1) pairs.push([chance(draw, 50) ? pick(draw, pairs)[0] : hostileText(draw), hostileText(draw)]);
  const cut =
    kind === 2
      ? `${path!.slice(0, randomInteger(draw, path!.length))}${encode(hostileText(draw)).slice(0, 8_000)}`
      : path;
  const query = pairs
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&')
    .slice(0, 12_000);
  const sent = { method, url: `${cut!.startsWith('/') ? cut : `/storage/au1/${cut}`}?${query}`, headers: {} };
  if (method === 'GET') return sent;
  const length = chance(draw, 70) ? picture.length : randomInteger(draw, 2_000);
  return {
    ...sent,
    headers: { 'Content-Type': chance(draw, 80) ? 'image/jpeg' : headerText(draw) },
    body: Buffer.concat([picture, picture]).subarray(0, length),
  };
}

import { isUtf8 } from 'node:buffer';
import { createHash, createHmac, hkdfSync, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { jwtVerify, SignJWT } from 'jose';
import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import { oauthError } from './http-error.ts';
import { type Claims, REGIONS, type Region } from './request-authorizer.ts';
import type { TokenBody } from './request-bodies.ts';

const BASE_URL = process.env.BASE_URL!;
const LIFETIME_SECONDS = 3600;

const keyBytes = Buffer.from(process.env.TOKEN_KEY!, 'base64url');
const keyId = createHmac('sha256', keyBytes).update('access token key id v1').digest('base64url').slice(0, 11);
const tokenKeys = { au1: await importKey('au1'), us1: await importKey('us1') };

/** Returns the key of a region's tokens. jose would import the bytes again for every token. */
function importKey(region: Region): Promise<CryptoKey> {
  const bytes = hkdfSync('sha256', keyBytes, '', `access tokens ${region} v1`, 32);
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

/** Returns the claims of a token that is valid in the region; null where it is invalid or expired. */
export async function verifyAccessToken(token: string, region: Region): Promise<Claims | null> {
  const options = {
    algorithms: ['HS256'],
    issuer: BASE_URL,
    audience: BASE_URL,
    requiredClaims: ['sub', 'client_id', 'scope', 'jti', 'iat', 'exp'],
  };
  return jwtVerify<Claims>(token, tokenKeys[region], options).then(
    ({ payload }) => payload,
    () => null,
  );
}

/** A row of `FIND_CLIENT`. */
interface StoredClient {
  type: string;
  grants: string[];
  scopes: string[];
  digests: string[];
}

/** Registers `POST /oauth/token` with the grant that is measured: client credentials in a JSON body. */
export function registerTokenRoute(
  app: FastifyInstance,
  findClient: (clientId: string, region: Region) => Promise<StoredClient | undefined>,
): void {
  app.register(async (scope) => {
    scope.removeContentTypeParser('application/json');
    const options = { parseAs: 'buffer', bodyLimit: BODY_LIMIT } as const;
    scope.addContentTypeParser('application/json', options, async (_request: FastifyRequest, body: Buffer) =>
      parseParameters(body),
    );
    scope.post<{ Body: TokenBody }>('/oauth/token', async (request, reply) => {
      const response = await issueToken(request.body ?? {}, request.headers, findClient);
      reply.header('Pragma', 'no-cache');
      return response;
    });
  });
}

async function issueToken(
  body: TokenBody,
  headers: IncomingHttpHeaders,
  findClient: (clientId: string, region: Region) => Promise<StoredClient | undefined>,
) {
  const grantType = requireParameter(body, 'grant_type');
  // A client is stored in one region. Without the header, the region is unknown.
  const region = headers['x-service-region-id'] as Region | undefined;
  if (region !== undefined && !REGIONS.includes(region)) {
    throw invalidRequest('The header X-Service-Region-Id must be au1 or us1.');
  }
  const clientId = body.client_id;
  if (clientId === undefined) {
    throw oauthError(401, 'invalid_client', 'The client must authenticate: client_id is missing.');
  }
  const clients = await Promise.all(
    (region === undefined ? REGIONS : [region]).map(async (id) => ({ id, client: await findClient(clientId, id) })),
  );
  const found = clients.find(({ client }) => client !== undefined);
  const client = found?.client;
  const digest = createHash('sha256')
    .update(body.client_secret ?? '')
    .digest();
  const matches = (client?.digests ?? []).filter((stored) => timingSafeEqual(digest, Buffer.from(stored, 'hex')));
  if (client?.type !== 'CONFIDENTIAL' || matches.length === 0) {
    throw oauthError(401, 'invalid_client', 'The client is unknown or its credentials are wrong.');
  }
  if ((headers['x-service-api-version'] ?? 'v1') !== 'v1') {
    throw invalidRequest('The header X-Service-Api-Version must be v1.');
  }
  if (grantType !== 'client_credentials') throw oauthError(400, 'unsupported_grant_type', 'Not a grant type.');
  if (!client.grants.includes(grantType)) throw oauthError(400, 'unauthorized_client', 'Not a grant of the client.');
  const audience = requireParameter(body, 'audience');
  if (audience !== BASE_URL) throw invalidRequest(`The audience must be ${BASE_URL}.`);
  const scope = parseScopes(requireParameter(body, 'scope'), client);
  const issuedAt = Math.floor(Date.now() / 1000);
  const access_token = await new SignJWT({ sub: clientId, client_id: clientId, scope })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: `${found!.id}.${keyId}` })
    .setIssuer(BASE_URL)
    .setAudience(BASE_URL)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + LIFETIME_SECONDS)
    .sign(tokenKeys[found!.id]);
  return { access_token, token_type: 'Bearer', expires_in: LIFETIME_SECONDS, expires: LIFETIME_SECONDS, scope };
}

const SCOPE_SYNTAX = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const SUPPORTED_SCOPES = new Set<string>([...SCOPES, ...INTERNAL_SCOPES]);

function parseScopes(text: string, client: StoredClient): string {
  const invalid = (description: string) => oauthError(400, 'invalid_scope', description);
  if (!SCOPE_SYNTAX.test(text)) throw invalid('The scope must be scopes with one space between each two.');
  const scopes = [...new Set(text.split(' '))];
  const unknownScopes = scopes.filter((scope) => !SUPPORTED_SCOPES.has(scope));
  if (unknownScopes.length > 0) throw invalid(`Not a scope: ${unknownScopes.join(' ')}.`);
  const disallowed = scopes.filter((scope) => !client.scopes.includes(scope));
  if (disallowed.length > 0) throw invalid(`The client is not allowed: ${disallowed.join(' ')}.`);
  return scopes.join(' ');
}

const BODY_LIMIT = 64 * 1024;
const MAX_PARAMETERS = 64;

/** A string in a flat JSON object, and the colon that follows where it is a field name. */
const JSON_STRING = /"((?:[^"\\]|\\.)*)"\s*(:)?/g;

/** Returns the parameters of a JSON body. Throws 400 for a repeated one (RFC 6749, section 3.2) or one that is no string. */
function parseParameters(body: Buffer): TokenBody {
  if (!isUtf8(body)) throw invalidRequest('The body is not UTF-8.');
  const text = body.toString('utf8');
  let fields: unknown;
  try {
    fields = JSON.parse(text);
  } catch {
    throw invalidRequest('The body is not valid JSON.');
  }
  if (fields === null || typeof fields !== 'object' || Array.isArray(fields)) {
    throw invalidRequest('The body must be a JSON object.');
  }
  const names = Object.keys(fields);
  if (names.length > MAX_PARAMETERS) throw invalidRequest(`A request may have at most ${MAX_PARAMETERS} parameters.`);
  const sentNames = [...text.matchAll(JSON_STRING)].flatMap(([, name, colon]) => (colon ? [name!] : []));
  const repeatedName = sentNames.find((name, index) => sentNames.indexOf(name) < index);
  if (repeatedName !== undefined) throw invalidRequest(`The parameter ${repeatedName} is repeated.`);
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be a string.`);
    if (value.includes('\0') || !value.isWellFormed()) {
      throw invalidRequest(`The parameter ${name} holds U+0000 or an unpaired surrogate.`);
    }
  }
  return fields;
}

const invalidRequest = (description: string) => oauthError(400, 'invalid_request', description);

/** Returns the value of a parameter. Throws 400 where it is missing or empty. */
function requireParameter(body: TokenBody, name: keyof TokenBody): string {
  const value = body[name];
  if (!value) throw invalidRequest(`The parameter ${name} is missing.`);
  return value;
}

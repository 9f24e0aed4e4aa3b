import { isUtf8 } from 'node:buffer';
import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { jwtVerify, SignJWT } from 'jose';
import { INTERNAL_SCOPES, SCOPES } from '../../../schema/scopes.ts';
import { oauthError, type TokenBody } from './inputs.ts';
import { type Claims, REGIONS, type Region } from './service.ts';

const BASE_URL = process.env.BASE_URL!;
const SECONDS = 3600;

const hmac = { name: 'HMAC', hash: 'SHA-256' };
const bytes = Buffer.from(process.env.TOKEN_KEY!, 'base64url');
const keyId = createHmac('sha256', bytes).update('access token key id v1').digest('base64url').slice(0, 11);
// Imported once: jose would import the bytes again for every token.
const tokenKey = await crypto.subtle.importKey('raw', bytes, hmac, false, ['sign', 'verify']);

/** The claims of a token that holds, else null. */
export async function verify(token: string): Promise<Claims | null> {
  const options = {
    algorithms: ['HS256'],
    issuer: BASE_URL,
    audience: BASE_URL,
    requiredClaims: ['sub', 'client_id', 'scope', 'jti', 'iat', 'exp'],
  };
  return jwtVerify<Claims>(token, tokenKey, options).then(
    ({ payload }) => payload,
    () => null,
  );
}

interface StoredClient {
  type: string;
  grants: string[];
  scopes: string[];
  digests: string[];
}

/** Client credentials in JSON, which are what is measured. */
export function registerTokens(
  app: FastifyInstance,
  findClient: (clientId: string, regions: readonly Region[]) => Promise<StoredClient | undefined>,
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
  findClient: (clientId: string, regions: readonly Region[]) => Promise<StoredClient | undefined>,
) {
  const grantType = required(body, 'grant_type');
  // A client is in one region's database; without the header, which one is not said.
  const region = headers['x-service-region-id'] as Region | undefined;
  if (region !== undefined && !REGIONS.includes(region)) {
    throw invalidRequest('The header X-Service-Region-Id must be au1 or us1.');
  }
  const clientId = body.client_id;
  if (clientId === undefined) {
    throw oauthError(401, 'invalid_client', 'The client must authenticate: client_id is missing.');
  }
  const client = await findClient(clientId, region === undefined ? REGIONS : [region]);
  const digest = createHash('sha256')
    .update(body.client_secret ?? '')
    .digest();
  const matches = (client?.digests ?? []).filter((known) => timingSafeEqual(digest, Buffer.from(known, 'hex')));
  if (client?.type !== 'CONFIDENTIAL' || matches.length === 0) {
    throw oauthError(401, 'invalid_client', 'The client is unknown or its credentials are wrong.');
  }
  if ((headers['x-service-api-version'] ?? 'v1') !== 'v1') {
    throw invalidRequest('The header X-Service-Api-Version must be v1.');
  }
  if (grantType !== 'client_credentials') throw oauthError(400, 'unsupported_grant_type', 'Not a grant type.');
  if (!client.grants.includes(grantType)) throw oauthError(400, 'unauthorized_client', 'Not a grant of the client.');
  const audience = required(body, 'audience');
  if (audience !== BASE_URL) throw invalidRequest(`The audience must be ${BASE_URL}.`);
  const scope = allowedScopes(required(body, 'scope'), client);
  const issuedAt = Math.floor(Date.now() / 1000);
  const access_token = await new SignJWT({ sub: clientId, client_id: clientId, scope })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: keyId })
    .setIssuer(BASE_URL)
    .setAudience(BASE_URL)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + SECONDS)
    .sign(tokenKey);
  return { access_token, token_type: 'Bearer', expires_in: SECONDS, expires: SECONDS, scope };
}

const SCOPE_SYNTAX = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;
const SUPPORTED_SCOPES = new Set<string>([...SCOPES, ...INTERNAL_SCOPES]);

function allowedScopes(text: string, client: StoredClient): string {
  const invalid = (description: string) => oauthError(400, 'invalid_scope', description);
  if (!SCOPE_SYNTAX.test(text)) throw invalid('The scope must be scopes with one space between each two.');
  const scopes = [...new Set(text.split(' '))];
  const unknown = scopes.filter((scope) => !SUPPORTED_SCOPES.has(scope));
  if (unknown.length > 0) throw invalid(`Not a scope: ${unknown.join(' ')}.`);
  const refused = scopes.filter((scope) => !client.scopes.includes(scope));
  if (refused.length > 0) throw invalid(`The client is not allowed: ${refused.join(' ')}.`);
  return scopes.join(' ');
}

const BODY_LIMIT = 64 * 1024;
const MAX_PARAMETERS = 64;

/** A name in a flat JSON object, with its quotes. */
const NAME = /"((?:[^"\\]|\\.)*)"\s*(:)?/g;

/** A parameter may be sent once (RFC 6749, section 3.2), and is text. */
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
  const sent = [...text.matchAll(NAME)].flatMap(([, name, colon]) => (colon ? [name!] : []));
  const repeated = sent.find((name, at) => sent.indexOf(name) < at);
  if (repeated !== undefined) throw invalidRequest(`The parameter ${repeated} is repeated.`);
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string') throw invalidRequest(`The parameter ${name} must be a string.`);
    if (value.includes('\0') || !value.isWellFormed()) {
      throw invalidRequest(`The parameter ${name} holds U+0000 or an unpaired surrogate.`);
    }
  }
  return fields;
}

const invalidRequest = (description: string) => oauthError(400, 'invalid_request', description);

/** A parameter without a value counts as omitted. */
function required(body: TokenBody, name: keyof TokenBody): string {
  const value = body[name];
  if (!value) throw invalidRequest(`The parameter ${name} is missing.`);
  return value;
}

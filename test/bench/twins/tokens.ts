import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { jwtVerify, SignJWT } from 'jose';
import { oauthError, type TokenBody } from './inputs.ts';
import type { Claims } from './service.ts';

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
  findClient: (clientId: string) => Promise<StoredClient | undefined>,
): void {
  app.post<{ Body: TokenBody }>('/oauth/token', async (request, reply) => {
    const body = request.body ?? {};
    const grantType = required(body, 'grant_type');
    const clientId = required(body, 'client_id');
    const secret = required(body, 'client_secret');
    const client = await findClient(clientId);
    const digest = createHash('sha256').update(secret).digest();
    const matches = (client?.digests ?? []).filter((known) => timingSafeEqual(digest, Buffer.from(known, 'hex')));
    if (client?.type !== 'CONFIDENTIAL' || matches.length === 0) {
      throw oauthError(401, 'invalid_client', 'The client is unknown or its credentials are wrong.');
    }
    if (grantType !== 'client_credentials') throw oauthError(400, 'unsupported_grant_type', 'Not a grant type.');
    if (!client.grants.includes(grantType)) throw oauthError(400, 'unauthorized_client', 'Not a grant of the client.');
    const audience = required(body, 'audience');
    if (audience !== BASE_URL) throw oauthError(400, 'invalid_request', `The audience must be ${BASE_URL}.`);
    const scopes = [...new Set(required(body, 'scope').split(' '))];
    const refused = scopes.filter((scope) => !client.scopes.includes(scope));
    if (refused.length > 0) {
      throw oauthError(400, 'invalid_scope', `The client is not allowed: ${refused.join(' ')}.`);
    }
    const scope = scopes.join(' ');
    const issuedAt = Math.floor(Date.now() / 1000);
    const access_token = await new SignJWT({ sub: clientId, client_id: clientId, scope })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid: keyId })
      .setIssuer(BASE_URL)
      .setAudience(BASE_URL)
      .setJti(randomUUID())
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + SECONDS)
      .sign(tokenKey);
    reply.header('Pragma', 'no-cache');
    return { access_token, token_type: 'Bearer', expires_in: SECONDS, expires: SECONDS, scope };
  });
}

function required(body: TokenBody, name: keyof TokenBody): string {
  const value = body[name];
  if (typeof value !== 'string' || value === '') {
    throw oauthError(400, 'invalid_request', `The parameter ${name} is required.`);
  }
  return value;
}

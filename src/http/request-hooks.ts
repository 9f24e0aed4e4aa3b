import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { API_VERSION } from '../../schema/rest.ts';
import type { RequestAuthenticator } from '../auth/request-authenticator.ts';
import { CHARGED_BYTES, limitResponseTime } from '../auth/request-usage.ts';
import type { Config } from '../config.ts';
import { type ApiError, invalidField } from '../shared/errors.ts';
import { headersTooLarge } from './client-errors.ts';
import { allowOrigin, type Origins } from './cors.ts';
import { compressResponse, MIN_COMPRESSED_BYTES } from './documents/compression.ts';
import { PacedAdmission } from './limits/paced-admission.ts';
import { MAX_HEADERS, MAX_RAW_HEADERS } from './limits/parsing-limits.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route charges every request with a valid access token to a share, and answers no other request with success. */
    chargesShare?: boolean;
  }
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Returns the id that the client sent, or a new one. HDR-14. */
export function selectRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && REQUEST_ID.test(sent) ? sent : randomUUID();
}

/** Maximum characters of a path with percent signs. No path of the service is as long, and decoding 16 KiB takes a millisecond. */
const MAX_ENCODED_PATH = 2_048;

/** Escapes all percent signs of a path with an invalid one, so that it is checked like any other. A path that is too long becomes an unknown one. */
export function rewriteEncodedUrl({ url = '/' }: { url?: string }): string {
  if (!url.includes('%')) return url;
  const path = url.split('?', 1)[0]!;
  if (path.length > MAX_ENCODED_PATH && path.includes('%')) return '/unknown';
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}

/** Headers of every response, in lower case, as they are sent: Fastify would convert the names in every response. */
const createHeaders = ({ production }: Config) => ({
  'x-service-api-version': API_VERSION,
  'x-content-type-options': 'nosniff',
  // Browsers must not execute data. Pages of this service set their own policy.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  // A page of another site that opens one of ours in a window gets no reference to it.
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'cache-control': 'no-store',
  vary: 'Origin',
  ...(production && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
});

/** Returns the error of a request with too many headers, or without `Host`. */
function findHeaderError(raw: IncomingMessage): ApiError | undefined {
  if (raw.rawHeaders.length > MAX_RAW_HEADERS)
    return headersTooLarge(`A request may have at most ${MAX_HEADERS} headers.`);
  const hasHost = raw.headers.host !== undefined || raw.httpVersion === '1.0';
  return hasHost ? undefined : invalidField('Host', 'is required');
}

/**
 * Adds the hook that receives every request. Those that no share is charged for are paced; those with a token that was verified before are
 * admitted at once on routes with `chargesShare`, because `FairShares.requests` limits them.
 *
 * @param dependencies.authenticator tells whether the token of a request was accepted a short time ago
 */
export function addRequestHook(
  app: FastifyInstance,
  dependencies: { config: Config; authenticator: Pick<RequestAuthenticator, 'isVerified'>; origins: Origins },
): void {
  const { config, authenticator, origins } = dependencies;
  const admission = new PacedAdmission();
  const headers = createHeaders(config);
  const receive = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    reply.header('x-request-id', request.id).headers(headers);
    const error = findHeaderError(request.raw);
    if (error === undefined && request.headers.origin !== undefined) allowOrigin(origins, request, reply, done);
    else done(error);
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.chargesShare === true && authenticator.isVerified(request))
      receive(request, reply, done);
    else admission.admit(request, () => receive(request, reply, done));
  });
}

/**
 * Adds the hook that sends every response: it charges the response to the share of its request until the client has received it, and compresses
 * texts of more than 1 KB for clients that accept it (HDR-16).
 */
export function addResponseHook(app: FastifyInstance): void {
  app.decorateRequest('usage', null);
  app.decorateRequest('caller', null);
  app.decorateRequest('context', null);
  app.addHook('onSend', (request, reply, payload, done) => {
    const { usage } = request;
    const bytes = typeof payload === 'string' ? payload.length : (usage?.streamedBytes ?? 0);
    if (usage && bytes >= CHARGED_BYTES) {
      const send = () => {
        limitResponseTime(reply, usage, bytes);
        compressResponse(request, reply, payload, done);
      };
      const waiting = usage.chargeResponse(bytes);
      if (waiting) waiting.then(send, done);
      else send();
      return;
    }
    usage?.end();
    if (typeof payload === 'string' && bytes < MIN_COMPRESSED_BYTES) done();
    else compressResponse(request, reply, payload, done);
  });
}

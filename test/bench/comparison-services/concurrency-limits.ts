import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJsonText } from '../../../src/http/bodies/json.ts';
import type { Release } from '../../../src/limits/fair-semaphore.ts';
import { ApiError, ValidationError } from '../../../src/shared/errors.ts';
import { HttpError } from './http-error.ts';

/** Limits of concurrent work in one process, by share. Each integrator has a share. */
export interface ConcurrencyLimits {
  /** Acquires a slot for a request; returns null where the request must wait. */
  tryAcquireRequest(shareKey: string): Release | null;
  /** Waits for a slot; rejects with 429 or 503 where the queue is full. */
  acquireRequest(shareKey: string): Promise<Release>;
  /** Acquires buffer space for a response in bytes; returns null where the response must wait. */
  tryAcquireResponse(shareKey: string, bytes: number): Release | null;
  acquireResponse(shareKey: string, bytes: number): Promise<Release>;
  /** Runs a write transaction when the share may use another connection. */
  runWrite<T>(shareKey: string, write: () => Promise<T>): Promise<T>;
  /** Runs a photo-report sync. A share has fewer concurrent syncs than other writes. */
  runSync<T>(shareKey: string, sync: () => Promise<T>): Promise<T>;
}

/** Smaller responses fit the buffers of a connection and are not limited. */
const COUNTED_BYTES = 16 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the request is authenticated. */
    shareKey: string | null;
    releaseRequest: Release | null;
    releaseResponse: Release | null;
  }
}

/** Acquires a slot for an authenticated request. It is released when the response is ready. */
export async function beginRequest(
  limits: ConcurrencyLimits,
  request: FastifyRequest,
  shareKey: string,
): Promise<void> {
  request.shareKey = shareKey;
  request.releaseRequest = limits.tryAcquireRequest(shareKey) ?? (await limits.acquireRequest(shareKey));
}

/** Installs the hooks that release slots and limit responses, and a JSON parser with the service's limits of a body. */
export function installLimits(app: FastifyInstance, limits: ConcurrencyLimits): void {
  for (const name of ['shareKey', 'releaseRequest', 'releaseResponse']) app.decorateRequest(name, null);
  app.addHook('onSend', (request, { raw }, payload, done) => {
    request.releaseRequest?.();
    const bytes = typeof payload === 'string' ? payload.length : 0;
    if (request.shareKey === null || bytes < COUNTED_BYTES) return done();
    const send = (release: Release) => {
      request.releaseResponse = release;
      // Fastify calls no hook when the client disconnects before the whole response is sent.
      if (raw.destroyed) release();
      else raw.once('close', release);
      done();
    };
    const release = limits.tryAcquireResponse(request.shareKey, bytes);
    if (release) send(release);
    else limits.acquireResponse(request.shareKey, bytes).then(send, done);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    request.releaseRequest?.();
    request.releaseResponse?.();
    done();
  });
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const text = decodeUtf8(body as Buffer);
      requireTokenLimit(text);
      done(null, parseText(text));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
}

function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body)) throw invalidBody('must be UTF-8');
  return body.toString('utf8');
}

function parseText(text: string): unknown {
  try {
    return parseJsonText(text, (errors) => {
      throw new ValidationError(errors);
    });
  } catch (error) {
    throw error instanceof ApiError ? new HttpError(error.status, error.body()) : invalidBody('must be valid JSON');
  }
}

/** Limits of the measured service: maximum values and field names of a body that is parsed on the event loop, and its nesting depth. */
const MAX_TOKENS = 50_000;
const MAX_DEPTH = 64;
/** The measured service parses larger bodies in a worker thread; no workload sends them. */
const MAX_COUNTED_BYTES = 1_048_576;

const invalidBody = (message: string) => new HttpError(400, { errors: [{ fieldName: 'body', message }] });

/** Throws 400 where a JSON text has too many tokens or nests too deeply. Parsing an excessive text would block the event loop. */
function requireTokenLimit(text: string): void {
  let depth = 0;
  let tokens = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = findStringEnd(text, at);
        break;
      case '{':
      case '[':
        tokens++;
        if (++depth > MAX_DEPTH) throw invalidBody(`must not nest deeper than ${MAX_DEPTH} levels`);
        break;
      case '}':
      case ']':
        depth--;
        break;
      case ',':
      case ':':
        tokens++;
    }
  }
  if (tokens > MAX_TOKENS && text.length <= MAX_COUNTED_BYTES) {
    throw invalidBody(`must have at most ${MAX_TOKENS} values and field names in all; it has ${tokens}`);
  }
}

function findStringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

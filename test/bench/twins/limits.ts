import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJsonText } from '../../../src/http/json.ts';
import { ApiError } from '../../../src/shared/errors.ts';
import type { Release } from '../../../src/shared/fair-semaphore.ts';
import { HttpError } from './service.ts';

/** Limits of a process, by share: an integrator. Each kind of service brings its own. */
export interface Limits {
  /** One more request of the share that is worked on; null where it has to wait. */
  tryStartRequest(share: string): Release | null;
  /** Waits for that; throws 429 or 503 where the queue is full. */
  startRequest(share: string): Promise<Release>;
  /** So many bytes of a response that is not yet sent; null where it has to wait. */
  tryStartResponse(share: string, bytes: number): Release | null;
  startResponse(share: string, bytes: number): Promise<Release>;
  /** Runs a transaction once the share may use a connection for it. */
  runWrite<T>(share: string, work: () => Promise<T>): Promise<T>;
  /** Runs a photo-report sync, of which a share has fewer at a time than other writes. */
  runSync<T>(share: string, work: () => Promise<T>): Promise<T>;
}

/** Smaller responses fit the buffers of a connection and are not counted. */
const COUNTED_BYTES = 16 * 1024;

declare module 'fastify' {
  interface FastifyRequest {
    /** Null until the caller is known. */
    share: string | null;
    endRequest: Release | null;
    endResponse: Release | null;
  }
}

/** Takes part in the limits from the authentication of a request until its response is ready. */
export async function startRequest(limits: Limits, request: FastifyRequest, share: string): Promise<void> {
  request.share = share;
  request.endRequest = limits.tryStartRequest(share) ?? (await limits.startRequest(share));
}

export function installLimits(app: FastifyInstance, limits: Limits): void {
  for (const name of ['share', 'endRequest', 'endResponse']) app.decorateRequest(name, null);
  app.addHook('onSend', (request, { raw }, payload, done) => {
    request.endRequest?.();
    const bytes = typeof payload === 'string' ? payload.length : 0;
    if (request.share === null || bytes < COUNTED_BYTES) return done();
    const send = (release: Release) => {
      request.endResponse = release;
      // Fastify calls no hook after a client that went away before the whole response was sent.
      if (raw.destroyed) release();
      else raw.once('close', release);
      done();
    };
    const release = limits.tryStartResponse(request.share, bytes);
    if (release) send(release);
    else limits.startResponse(request.share, bytes).then(send, done);
  });
  app.addHook('onResponse', (request, _reply, done) => {
    request.endRequest?.();
    request.endResponse?.();
    done();
  });
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      const text = decodeUtf8(body as Buffer);
      requireTokens(text);
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
    return parseJsonText(text);
  } catch (error) {
    // The service's own search has found the field.
    throw error instanceof ApiError ? new HttpError(error.status, error.body()) : invalidBody('must be valid JSON');
  }
}

/** As the service's: values and field names of a body that is parsed on the event loop, and how deep it nests. */
const MAX_TOKENS = 50_000;
const MAX_DEPTH = 64;
/** Larger bodies are parsed on a thread by the service; here nothing sends them. */
const MAX_COUNTED_BYTES = 1_048_576;

const invalidBody = (message: string) => new HttpError(400, { errors: [{ fieldName: 'body', message }] });

/** Counts the tokens of a JSON text before it is parsed. */
function requireTokens(text: string): void {
  let depth = 0;
  let tokens = 1;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
        at = endOfString(text, at);
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

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

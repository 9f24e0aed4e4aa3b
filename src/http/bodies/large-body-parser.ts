import { extname } from 'node:path';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, RequestPayload } from 'fastify';
import { DOCUMENT_TYPE } from '../../domain/photo-reports/limits.ts';
import { PreparedPage } from '../../domain/photo-reports/prepared-page.ts';
import { FieldErrors, invalidField, payloadTooLarge, unavailable } from '../../shared/errors.ts';
import { WorkerError, WorkerThread } from '../../shared/worker-thread.ts';
import type { BodyResult, BodyTask } from './body-task.ts';
import {
  decodeJson,
  deferTextErrors,
  estimateTokens,
  JSON_TYPES,
  MANY_TOKENS,
  MAX_TOKENS,
  parseInShare,
  parseRequestText,
  requireJsonType,
} from './json.ts';
import type { LargeBodyForm } from './large-body-form.ts';
import { bodyEndedEarly, receiveBody } from './receive-body.ts';

const MIB = 1024 * 1024;

/** Number of tokens above which a photo report is parsed, checked, sorted and hashed in the worker thread. */
const MANY_REPORT_TOKENS = 10_000;

/** A report of 32 MiB with as many runs as fit in it is parsed within this heap, in MiB. */
const THREAD = {
  file: new URL(`./body-thread${extname(import.meta.url)}`, import.meta.url),
  memoryMb: 640,
  timeoutMs: 30_000,
  idleMs: 10_000,
};

/** Bytes of a body after which the thread ends, because its heap would keep a hundred MiB or more until it collects them. */
const ENDING_BYTES = 8 * MIB;

/** Memory that a value or field name of a parsed body takes, in bytes. */
const BYTES_PER_TOKEN = 64;

/**
 * Parses JSON bodies of routes that accept large ones. A large body is charged to the caller's share before it is received, and parsed and
 * checked in a worker thread, which returns a summary.
 */
export class LargeBodyParser {
  readonly #thread = new WorkerThread<BodyTask, BodyResult>(THREAD);
  readonly #largeFrom: number;
  #lastTask: Promise<unknown> = Promise.resolve();
  /** Numbers of bodies parsed on the event loop and in the worker thread. */
  readonly parsed = { eventLoop: 0, thread: 0 };

  /** @param largeFrom number of bytes above which a body is large. */
  constructor(largeFrom: number) {
    this.#largeFrom = largeFrom;
  }

  /** Makes the routes of a scope accept large bodies of the form, up to the limit of each route. */
  install(scope: FastifyInstance, form: LargeBodyForm): void {
    scope.removeContentTypeParser(JSON_TYPES);
    scope.addContentTypeParser(JSON_TYPES, (request: FastifyRequest, payload: RequestPayload) =>
      this.#parse(request, payload as Readable, form),
    );
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #parse(request: FastifyRequest, payload: Readable, form: LargeBodyForm): Promise<unknown> {
    requireJsonType(request);
    const limit = request.routeOptions.bodyLimit!;
    const header = request.headers['content-length'];
    const length = header === undefined ? undefined : Number(header);
    if (length !== undefined && length > limit) throw payloadTooLarge(limit);
    const admit = () => admitLarge(request, length ?? limit);
    const body =
      length !== undefined && length <= this.#largeFrom
        ? Buffer.concat(
            await payload.toArray().catch(() => {
              throw bodyEndedEarly();
            }),
          )
        : await receiveBody(payload, length, { largeFrom: this.#largeFrom, limit, admit });
    return body.length <= this.#largeFrom
      ? this.#parseSmall(body, form, request)
      : this.#parseInThread(body, form, request);
  }

  /** Parses a small body; in the worker thread where it has many tokens. */
  async #parseSmall(body: Uint8Array, form: LargeBodyForm, request: FastifyRequest): Promise<unknown> {
    if (body.length === 0) return undefined;
    const text = decodeJson(body);
    const tokens = estimateTokens(text);
    const mayHoldReport = form.kind === 'fields' || text.includes(DOCUMENT_TYPE);
    if (tokens <= (mayHoldReport ? MANY_REPORT_TOKENS : MAX_TOKENS)) {
      this.parsed.eventLoop++;
      const { usage } = request;
      return usage && tokens > MANY_TOKENS ? parseInShare(usage, text, request) : parseRequestText(text, request);
    }
    if (tokens > MAX_TOKENS) {
      // Accepted only for operations with large bodies. The operation is known once the body is parsed.
      const message = `must have at most ${MAX_TOKENS} values and field names in all; it has ${tokens}`;
      request.context!.largeBodyError ??= invalidField('body', message);
    }
    await admitLarge(request, Math.max(body.length, tokens * BYTES_PER_TOKEN));
    return this.#parseInThread(body, form, request);
  }

  async #parseInThread(body: Uint8Array, form: LargeBodyForm, request: FastifyRequest): Promise<unknown> {
    const result = await this.#runInOrder(() => {
      if (request.raw.socket.destroyed) throw bodyEndedEarly();
      return this.#process(body, form);
    });
    if (result.textErrors) deferTextErrors(request, result.textErrors);
    if ('errors' in result) {
      const errors = new FieldErrors();
      errors.add(...result.errors);
      errors.addNew(...(request.context!.textErrors ?? []));
      return errors.throwIfAny();
    }
    const value = result.value as Record<string, Record<string, unknown>>;
    const target: Record<string, unknown> = form.kind === 'graphql' ? value.variables! : value;
    for (const [name, page] of result.pages) target[name] = new PreparedPage(page);
    return value;
  }

  /** Runs one task of the thread after the other. The memory of each share bounds what it has in this queue. */
  #runInOrder<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#lastTask.then(task);
    this.#lastTask = result.catch(() => undefined);
    return result;
  }

  async #process(body: Uint8Array, form: LargeBodyForm): Promise<BodyResult> {
    // Part of a pooled buffer cannot be transferred.
    const ownsBuffer = body.byteOffset === 0 && body.length > MIB;
    const own = ownsBuffer ? body : Uint8Array.from(body);
    const { length } = own;
    this.parsed.thread++;
    try {
      const result = await this.#thread.run({ form, body: own }, [own.buffer as ArrayBuffer]);
      if (length > ENDING_BYTES) await this.#thread.close();
      return result;
    } catch (error) {
      if (!(error instanceof WorkerError)) throw error;
      if (error.reason === 'MEMORY') throw invalidField('body', 'needs more memory to be parsed than the service has');
      throw unavailable(error);
    }
  }
}

/** Waits for memory of the caller's share, at most until the connection closes. */
async function admitLarge({ usage, raw: { socket } }: FastifyRequest, bytes: number): Promise<void> {
  const closed = new AbortController();
  const abort = () => closed.abort(bodyEndedEarly());
  socket.once('close', abort);
  try {
    await usage!.acquireLargeBody(bytes, closed.signal);
  } finally {
    socket.off('close', abort);
  }
}

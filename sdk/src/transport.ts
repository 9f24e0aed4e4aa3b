import { ApiError, ConnectionError, createError } from './errors.ts';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, its retries and their waits. */
  signal?: AbortSignal;
  /** Milliseconds of one attempt, with the body of its response. Default: that of the client. */
  timeoutMs?: number;
}

/**
 * When a request is sent again. `always`: after a lost response, 429 and 5xx. `rejected`: only after 429 and 503, whose requests have changed
 * nothing; for what must not happen twice. `delete`: as `always`, and a 404 after a lost response means that the first attempt has deleted it.
 */
export type RetryPolicy = 'always' | 'rejected' | 'delete';

export interface TransportOptions {
  /** Default: that of the platform. */
  fetch?: typeof fetch;
  /** Milliseconds of one attempt. Default 30,000. */
  timeoutMs?: number;
  /** Attempts after the first one. Default 5. */
  retries?: number;
  /** Milliseconds before the first retry at most; each next one waits up to twice as long, at most 30 seconds. Default 250. */
  retryDelayMs?: number;
}

/** Source of the header `Authorization`. */
export interface Authorization {
  /** Returns a token that has not expired. @param rejected Token that the service has answered with 401: another one is wanted. */
  getToken(rejected?: string): Promise<string>;
}

const MAX_DELAY_MS = 30_000;
/** A response that demands a longer wait, such as that of a daily limit, is for the caller to handle. */
const MAX_RETRY_AFTER_SECONDS = 300;
/** Responses that may not have a body. */
const WITHOUT_BODY = new Set([204, 205, 304]);

/** Sends requests: with a token, a time limit, and retries that cannot do harm. */
export class Transport {
  readonly #options: Required<TransportOptions>;

  constructor(options: TransportOptions = {}) {
    const { fetch = globalThis.fetch, timeoutMs = 30_000, retries = 5, retryDelayMs = 250 } = options;
    this.#options = { fetch, timeoutMs, retries, retryDelayMs };
  }

  /**
   * Returns a response whose body has arrived. Throws `ApiError` for status 400 and above, and `ConnectionError` when no attempt had a response.
   */
  async send(
    request: Request,
    retry: RetryPolicy,
    { signal, timeoutMs = this.#options.timeoutMs }: CallOptions = {},
    authorization?: Authorization,
  ): Promise<Response> {
    let rejectedToken: string | undefined;
    let isLost = false;
    for (let attempt = 0; ; attempt++) {
      signal?.throwIfAborted();
      const token = await authorization?.getToken(rejectedToken);
      let failure: ApiError | ConnectionError;
      try {
        const response = await this.#attempt(request.clone(), token, signal, timeoutMs);
        const text = await response.text();
        if (response.ok) return new Response(WITHOUT_BODY.has(response.status) ? null : text, response);
        failure = createError(response, text);
        if (response.status === 404 && retry === 'delete' && isLost) return new Response(null, { status: 204 });
        if (response.status === 401 && token !== undefined && rejectedToken === undefined) {
          rejectedToken = token;
          continue;
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        failure = new ConnectionError(`${request.method} ${request.url.split('?')[0]}: no response.`, { cause: error });
      }
      const isRejected = failure instanceof ApiError && (failure.status === 429 || failure.status === 503);
      const isUnknown = failure instanceof ConnectionError || failure.status >= 500;
      if (!isRejected && (!isUnknown || retry === 'rejected')) throw failure;
      isLost ||= isUnknown;
      const retryAfter = failure instanceof ApiError ? (failure.retryAfter ?? 0) : 0;
      if (attempt >= this.#options.retries || retryAfter > MAX_RETRY_AFTER_SECONDS) throw failure;
      // A random time more, so that many clients do not come back together.
      const jitter = Math.random() * Math.min(MAX_DELAY_MS, this.#options.retryDelayMs * 2 ** attempt);
      await sleep(retryAfter * 1000 + jitter, signal);
    }
  }

  /** Returns a response whose body is read as it arrives, of one attempt without a time limit. */
  async open(request: Request, signal?: AbortSignal): Promise<Response> {
    const response = await this.#options.fetch(request, { signal });
    if (!response.ok) throw createError(response, await response.text());
    return response;
  }

  #attempt(request: Request, token: string | undefined, signal: AbortSignal | undefined, timeoutMs: number) {
    if (token !== undefined) request.headers.set('authorization', `Bearer ${token}`);
    const signals = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
    const { fetch } = this.#options;
    return fetch(request, { signal: AbortSignal.any(signals) });
  }
}

/** Waits; rejects with the signal's reason when it is aborted. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}

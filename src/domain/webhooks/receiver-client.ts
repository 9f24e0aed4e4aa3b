import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import {
  AddressError,
  internet,
  type Network,
  requireAllowedHost,
  sendGuarded,
} from '../../network/guarded-network.ts';
import { limitChunks, stopParsing } from '../../node-internals/http-parser.ts';
import { traced } from '../../shared/tracing.ts';

/** Milliseconds within which a receiver must have responded (WHK-10). */
const TIMEOUT_MS = 15_000;

/** Bytes of a receiver's body that are kept (WHK-12). */
const KEPT_BYTES = 1_024;

/** Bytes of a receiver's body after which the connection is closed and not used again. */
const MAX_READ_BYTES = 64 * 1_024;

/** Maximum bytes of a response with its framing. Node reads up to 64 KiB at a time. */
const MAX_RECEIVED_BYTES = 4 * MAX_READ_BYTES;

/** Maximum responses with a status 1xx before the response. */
const MAX_INFORMATIONAL = 10;

/** Idle connections that are kept per receiver. */
const IDLE_CONNECTIONS = 4;

/** Result of one request to a receiver. */
export interface Attempt {
  /** HTTP status; null without a response. */
  status: number | null;
  /** Beginning of the body as text; null without a response. */
  body: string | null;
  /** Why there was no response; null with one. */
  error: string | null;
  durationMs: number;
}

/** Whether a receiver has accepted a delivery: any 2xx (WHK-10). */
export const isSuccess = ({ status }: Pick<Attempt, 'status'>) => status !== null && status >= 200 && status < 300;

/** Rules for the addresses of receivers. */
interface ReceiverRules {
  /** Whether only `https:` is accepted. Otherwise `http:` is too, and loopback addresses are allowed. */
  production: boolean;
  /** Network access; by default public addresses, and loopback outside production. */
  network?: Network;
}

const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/;

/** Names that no public host has: single or empty labels, those of IANA's registry of special-use names but `example.com`, and common local ones. */
const LOCAL_NAME =
  /^[^.]*$|(^|\.)(\.|$)|\.(alt|arpa|example|invalid|local|localhost|onion|test|corp|home|internal|intranet|lan|localdomain|private)$/;

const isLocalName = (hostname: string): boolean =>
  !hostname.startsWith('[') && LOCAL_NAME.test(hostname.toLowerCase().replace(/\.$/, ''));

/** Sends deliveries to receivers, under the guard that downloads of images have: no address that is not public, no redirects. */
export class ReceiverClient {
  readonly #production: boolean;
  readonly #network: Network;
  readonly #agents: { http: http.Agent; https: https.Agent };

  constructor({ production, network }: ReceiverRules) {
    this.#production = production;
    this.#network = network ?? {
      isAllowedAddress: (address) => internet.isAllowedAddress(address) || (!production && LOOPBACK.test(address)),
    };
    const options = { keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS, timeout: TIMEOUT_MS };
    this.#agents = { http: new http.Agent(options), https: new https.Agent(options) };
  }

  /** Returns what is wrong with the URL of an endpoint; null when it may be used. The name is looked up when something is sent. */
  findUrlProblem(text: string): string | null {
    const url = new URL(text);
    const isLoopback = !this.#production && /^(localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname);
    if (this.#production && url.protocol !== 'https:') return 'must be an https: URL';
    try {
      requireAllowedHost(url, this.#network);
    } catch {
      return 'must be on a public address';
    }
    if (isLoopback) return null;
    if (url.protocol !== 'https:') return 'must be an https: URL';
    return isLocalName(url.hostname) ? 'must have a public name' : null;
  }

  /** Posts a JSON body. Never throws: a failure is part of the result. */
  async post(
    url: string,
    headers: Record<string, string>,
    body: string,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<Attempt> {
    const began = performance.now();
    const deadline = AbortSignal.timeout(this.#network.timeoutMs ?? TIMEOUT_MS);
    const combined = signal ? AbortSignal.any([deadline, signal]) : deadline;
    const finish = (result: Omit<Attempt, 'durationMs'>): Attempt => ({
      ...result,
      durationMs: Math.round(performance.now() - began),
    });
    try {
      const problem = this.findUrlProblem(url);
      if (problem) return finish({ status: null, body: null, error: `The URL ${problem}.` });
      const target = new URL(url);
      const agent = target.protocol === 'https:' ? this.#agents.https : this.#agents.http;
      const options = {
        method: 'POST',
        agent,
        signal: combined,
        headers: {
          Accept: '*/*',
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(body)),
          'User-Agent': 'builder-integration-api',
          ...headers,
        },
      };
      const response = await traced('POST webhook', { 'server.address': target.hostname }, () =>
        sendGuarded(target, this.#network, options, { body, watch: limitFraming }),
      );
      const text = await readBeginning(response);
      if (text === null)
        return finish({ status: null, body: null, error: 'The response has more framing than content.' });
      return finish({ status: response.statusCode!, body: text, error: null });
    } catch (error) {
      const reason = deadline.aborted ? `No response within ${TIMEOUT_MS / 1000} seconds.` : describeFailure(error);
      return finish({ status: null, body: null, error: reason });
    }
  }

  close(): void {
    this.#agents.http.destroy();
    this.#agents.https.destroy();
  }
}

/** Connections that were closed because of what was received beside the body. */
const excessive = new WeakSet<Socket>();

/**
 * Closes the connection of a response with many informational ones before it, with a body in many small chunks, or with far more bytes than are
 * read of its body.
 */
function limitFraming(sent: ClientRequest): void {
  sent.on('socket', (socket) => {
    const readBefore = socket.bytesRead;
    let restoreParser = () => {};
    let informational = 0;
    const close = () => {
      excessive.add(socket);
      restoreParser = stopParsing(socket);
      socket.destroy();
    };
    sent.on('information', () => {
      if (++informational > MAX_INFORMATIONAL && !socket.destroyed) close();
    });
    sent.on('response', (response: IncomingMessage) =>
      limitChunks(response, () => {
        close();
        response.destroy(new Error('small chunks'));
      }),
    );
    // After Node's own listener, which calls the parser.
    const check = () => {
      restoreParser();
      if (socket.bytesRead - readBefore <= MAX_RECEIVED_BYTES || socket.destroyed) return;
      excessive.add(socket);
      socket.destroy();
    };
    socket.on('data', check);
    sent.once('close', () => socket.off('data', check));
  });
}

/**
 * Returns at most 1 KiB of the body as text that PostgreSQL can store. The rest is read and dropped, up to a limit. A body that stalls or
 * breaks off ends where it does: the status has been received. Null for a body in many small chunks, or whose chunks have long extensions.
 */
async function readBeginning(response: IncomingMessage): Promise<string | null> {
  const kept: Buffer[] = [];
  const { socket } = response;
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      if (bytes < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - bytes));
      bytes += chunk.length;
      if (bytes > MAX_READ_BYTES) break;
    }
  } catch {
    response.destroy();
    if (excessive.has(socket)) return null;
  }
  // A character that the limit has cut, and bytes that are not UTF-8, become U+FFFD. Three bytes are its size.
  const text = Buffer.concat(kept).toString('utf8').replaceAll('\0', '\uFFFD');
  let end = text.length;
  while (Buffer.byteLength(text.slice(0, end)) > KEPT_BYTES) end--;
  return text.slice(0, end).toWellFormed();
}

function describeFailure(error: unknown): string {
  if (error instanceof AddressError) return 'The URL is not on a public address.';
  const { code } = error as NodeJS.ErrnoException;
  return (
    FAILURES[code ?? ''] ?? (/CERT|TLS|SSL|SIGNED/.test(code ?? '') ? `TLS failed: ${code}.` : 'The connection failed.')
  );
}

const FAILURES: Record<string, string> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed.',
  EHOSTUNREACH: 'The host cannot be reached.',
  ENETUNREACH: 'The host cannot be reached.',
  ENOTFOUND: 'The host name does not resolve.',
  ENODATA: 'The host name does not resolve.',
  ESERVFAIL: 'The name server failed.',
  EREFUSED: 'The name server failed.',
  ETIMEOUT: 'The name server did not respond.',
};

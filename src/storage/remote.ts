import { lookup as resolveHost } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.ts';
import { type Spool, type SpooledFile, TooManyBytes } from './spool.ts';

/** Longest download in milliseconds. */
const DEADLINE_MS = 20_000;
const MAX_REDIRECTS = 3;
const REDIRECTS = [301, 302, 303, 307, 308];

/** A file of another host that cannot be had; the message is for the client. */
export class RemoteProblem extends Error {
  override name = 'RemoteProblem';
  constructor(
    readonly code: 'INVALID_IMAGE_URL' | 'HOST_NOT_APPROVED' | 'DOWNLOAD_FAILED',
    message: string,
  ) {
    super(message);
  }
}

/** The world outside, which tests bring themselves. */
export interface Outside {
  /** Whether a connection may lead to the address. */
  allows(address: string): boolean;
  /** Resolves names; the system's resolver when it is not given. */
  resolve?: typeof resolveHost;
  /** Certificates to trust instead of the system's. */
  ca?: string;
  deadlineMs?: number;
}

const internet: Outside = { allows: isPublicAddress };

/** The host of an `imageUrl`, as the operator approves it; throws when the URL is not HTTPS or carries credentials. */
export function hostOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:') throw new RemoteProblem('INVALID_IMAGE_URL', 'must be an HTTPS URL');
  if (url.username || url.password) throw new RemoteProblem('INVALID_IMAGE_URL', 'must not carry credentials');
  return url.host;
}

/** Downloads from hosts that the caller has checked to be approved, and from nowhere else (UPL-25, UPL-26). */
export class RemoteFiles {
  readonly #spool: Spool;
  readonly #outside: Outside;

  constructor(spool: Spool, outside: Outside = internet) {
    this.#spool = spool;
    this.#outside = outside;
  }

  /** The file behind the URL, in the spool: the caller discards it. Redirects are followed on the same host alone. */
  async fetch(url: string, limit: number, signal?: AbortSignal): Promise<SpooledFile> {
    const deadline = AbortSignal.timeout(this.#outside.deadlineMs ?? DEADLINE_MS);
    const ends = signal ? AbortSignal.any([deadline, signal]) : deadline;
    try {
      const answer = await this.#follow(new URL(url), ends);
      if (Number(answer.headers['content-length'] ?? 0) > limit) {
        answer.destroy();
        throw new TooManyBytes();
      }
      return await this.#spool.receive(answer, limit, ends);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof RemoteProblem) throw error;
      if (error instanceof TooManyBytes) throw failed(`has more than ${limit} bytes`);
      if (deadline.aborted) throw failed('took too long');
      throw failed('could not be downloaded');
    }
  }

  async #follow(start: URL, signal: AbortSignal): Promise<IncomingMessage> {
    let url = start;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const answer = await this.#get(url, signal);
      const { statusCode = 0, headers } = answer;
      if (statusCode === 200) return answer;
      answer.destroy();
      if (!REDIRECTS.includes(statusCode) || !headers.location) throw failed(`was answered with status ${statusCode}`);
      const next = URL.canParse(headers.location, url) ? new URL(headers.location, url) : null;
      if (next?.protocol !== 'https:' || next.host !== start.host || next.username || next.password) {
        throw failed('redirects to another host');
      }
      url = next;
    }
    throw failed('redirects too often');
  }

  #get(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const { allows, ca } = this.#outside;
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) && !allows(literal)) throw notPublic();
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        agent: false,
        signal,
        ca,
        lookup: this.#lookup,
        headers: { Accept: 'image/*', 'Accept-Encoding': 'identity', 'User-Agent': 'builder-integration-api' },
      });
      // What a name resolves to may change between two looks; what the socket is connected to does not.
      sent.on('socket', (socket) =>
        socket.on('connect', () => {
          if (!socket.remoteAddress || !allows(socket.remoteAddress)) sent.destroy(notPublic());
        }),
      );
      sent.on('response', resolve);
      sent.on('error', reject);
      sent.end();
    });
  }

  /** Connects to none of a name's addresses when one of them is not allowed: such a name is no host of images. */
  readonly #lookup: LookupFunction = (hostname, options, done) => {
    const { allows, resolve = resolveHost } = this.#outside;
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 0);
      const list = addresses.map(({ address, family }) => ({ address, family }));
      if (list.length === 0 || !list.every(({ address }) => allows(address))) return done(notPublic(), '', 0);
      return options.all ? done(null, list) : done(null, list[0]!.address, list[0]!.family);
    });
  };
}

const failed = (message: string) => new RemoteProblem('DOWNLOAD_FAILED', message);
const notPublic = () => failed('is not on a public address');

import { lookup as resolveHost } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';
import { SizeLimitError, type Spool, type SpooledFile } from './spool.ts';

/** Maximum milliseconds of a download, redirects included. */
const DOWNLOAD_TIMEOUT_MS = 20_000;
const MAX_REDIRECTS = 3;
const REDIRECT_STATUSES = [301, 302, 303, 307, 308];

/** A failed download; the message is for the client. */
export class DownloadError extends Error {
  override name = 'DownloadError';
  constructor(
    readonly code: 'INVALID_IMAGE_URL' | 'HOST_NOT_APPROVED' | 'DOWNLOAD_FAILED',
    message: string,
  ) {
    super(message);
  }
}

/** Network access of downloads, which tests replace. */
export interface DownloadNetwork {
  /** Whether connections to the IP address are allowed. */
  isAllowedAddress(address: string): boolean;
  /** Resolves host names. Default: the system's resolver. */
  resolve?: typeof resolveHost;
  /** Certificate authorities to trust instead of the system's. */
  ca?: string;
  timeoutMs?: number;
}

const internet: DownloadNetwork = { isAllowedAddress: isPublicAddress };

/** Returns the host, with its port, of an `imageUrl`. Throws `DownloadError` for a URL that is not HTTPS or has credentials. */
export function parseImageHost(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'https:') throw new DownloadError('INVALID_IMAGE_URL', 'must be an HTTPS URL');
  if (url.username || url.password) throw new DownloadError('INVALID_IMAGE_URL', 'must not carry credentials');
  return url.host;
}

/** Downloads files over HTTPS from public addresses. The caller checks that the operator has approved the host. */
export class RemoteDownloader {
  readonly #spool: Spool;
  readonly #network: DownloadNetwork;

  constructor(spool: Spool, network: DownloadNetwork = internet) {
    this.#spool = spool;
    this.#network = network;
  }

  /**
   * Downloads the URL to a file in the spool, which the caller discards. Redirects to another host are rejected.
   *
   * @param limit maximum bytes
   */
  async download(url: string, limit: number, signal?: AbortSignal): Promise<SpooledFile> {
    const deadline = AbortSignal.timeout(this.#network.timeoutMs ?? DOWNLOAD_TIMEOUT_MS);
    const combined = signal ? AbortSignal.any([deadline, signal]) : deadline;
    try {
      const response = await this.#requestFollowingRedirects(new URL(url), combined);
      if (Number(response.headers['content-length'] ?? 0) > limit) {
        response.destroy();
        throw new SizeLimitError();
      }
      return await this.#spool.receive(response, limit, combined);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof DownloadError) throw error;
      if (error instanceof SizeLimitError) throw createDownloadError(`has more than ${limit} bytes`);
      if (deadline.aborted) throw createDownloadError('took too long');
      throw createDownloadError('could not be downloaded');
    }
  }

  async #requestFollowingRedirects(start: URL, signal: AbortSignal): Promise<IncomingMessage> {
    let url = start;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await this.#request(url, signal);
      const { statusCode = 0, headers } = response;
      if (statusCode === 200) return response;
      response.destroy();
      if (!REDIRECT_STATUSES.includes(statusCode) || !headers.location)
        throw createDownloadError(`was answered with status ${statusCode}`);
      const next = URL.canParse(headers.location, url) ? new URL(headers.location, url) : null;
      if (next?.protocol !== 'https:' || next.host !== start.host || next.username || next.password) {
        throw createDownloadError('redirects to another host');
      }
      url = next;
    }
    throw createDownloadError('redirects too often');
  }

  #request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    const { isAllowedAddress, ca } = this.#network;
    const literal = url.hostname.replace(/^\[|\]$/g, '');
    if (isIP(literal) && !isAllowedAddress(literal)) throw createAddressError();
    return new Promise((resolve, reject) => {
      const sent = request(url, {
        agent: false,
        signal,
        ca,
        lookup: this.#lookup,
        headers: { Accept: 'image/*', 'Accept-Encoding': 'identity', 'User-Agent': 'builder-integration-api' },
      });
      // A name may resolve to another address at the next lookup, so the address of the connected socket is checked.
      sent.on('socket', (socket) =>
        socket.on('connect', () => {
          if (!socket.remoteAddress || !isAllowedAddress(socket.remoteAddress)) sent.destroy(createAddressError());
        }),
      );
      sent.on('response', resolve);
      sent.on('error', reject);
      sent.end();
    });
  }

  /** Rejects a name when any of its addresses is not allowed. */
  readonly #lookup: LookupFunction = (hostname, options, done) => {
    const { isAllowedAddress, resolve = resolveHost } = this.#network;
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 0);
      const list = addresses.map(({ address, family }) => ({ address, family }));
      if (list.length === 0 || !list.every(({ address }) => isAllowedAddress(address)))
        return done(createAddressError(), '', 0);
      return options.all ? done(null, list) : done(null, list[0]!.address, list[0]!.family);
    });
  };
}

const createDownloadError = (message: string) => new DownloadError('DOWNLOAD_FAILED', message);
const createAddressError = () => createDownloadError('is not on a public address');

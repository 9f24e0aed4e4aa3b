import type { IncomingMessage } from 'node:http';
import { AddressError, internet, type Network, requireAllowedHost, sendGuarded } from '../network/guarded-network.ts';
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
  readonly #network: Network;

  constructor(spool: Spool, network: Network = internet) {
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
      return await this.#spool.receive(response, limit, { signal: combined });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof DownloadError) throw error;
      if (error instanceof AddressError) throw createDownloadError(error.message);
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
      if (next?.protocol !== 'https:' || next.host !== start.host || next.username || next.password)
        throw createDownloadError('redirects to another host');
      url = next;
    }
    throw createDownloadError('redirects too often');
  }

  #request(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
    requireAllowedHost(url, this.#network);
    const headers = { Accept: 'image/*', 'Accept-Encoding': 'identity', 'User-Agent': 'builder-integration-api' };
    return sendGuarded(url, this.#network, { agent: false, signal, headers });
  }
}

const createDownloadError = (message: string) => new DownloadError('DOWNLOAD_FAILED', message);

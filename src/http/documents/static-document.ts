import { createHash } from 'node:crypto';
import { constants } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { compressBrotli, compressGzip, type Encoding, selectEncoding } from './compression.ts';

/** Compression that is done once: a document of 4 MB takes a second and becomes a quarter smaller than with the lowest level. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 7 } };

/** How long clients keep a document: not at all, `revalidated` with its ETag at each use, or for ever because its path has its hash. */
type CachePolicy = 'unstored' | 'revalidated' | 'immutable';

const CACHE_CONTROL: Record<CachePolicy, string> = {
  // Otherwise, going back after a sign-out shows a page with its data.
  unstored: 'no-store',
  revalidated: 'public, no-cache',
  immutable: 'public, max-age=31536000, immutable',
};

export const hashBody = (body: Uint8Array | string): string =>
  createHash('sha256').update(body).digest('hex').slice(0, 16);

/** Whether `If-None-Match` names the entity tag. RFC 9110, section 13.1.2. */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag);
}

/** A document that does not change while the service runs, with its entity tag. It is compressed once, at the first request. HDR-17. */
export class StaticDocument {
  /** Sent as a weak tag, because the encodings of the document share it. */
  readonly tag: string;
  readonly #body: Buffer;
  readonly #headers: Record<string, string>;
  readonly #encoded = new Map<Encoding, Promise<Buffer>>();

  constructor(body: Buffer, type: string, cache: CachePolicy, headers: Record<string, string> = {}) {
    this.#body = body;
    this.tag = `"${hashBody(body)}"`;
    this.#headers = {
      ...headers,
      'Content-Type': type,
      'Cache-Control': CACHE_CONTROL[cache],
      ETag: `W/${this.tag}`,
      Vary: 'Accept-Encoding',
    };
  }

  /** Sends the document, or 304 to a client that has it. */
  async send({ headers }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (matchesTag(headers['if-none-match'], this.tag)) {
      const { 'Content-Type': _, ...others } = this.#headers;
      return reply.code(304).headers(others).send();
    }
    const encoding = selectEncoding(headers['accept-encoding']);
    reply.headers(this.#headers);
    if (encoding) reply.header('Content-Encoding', encoding);
    const body = encoding ? await this.#encode(encoding) : this.#body;
    return reply.send(body);
  }

  #encode(encoding: Encoding): Promise<Buffer> {
    let encoded = this.#encoded.get(encoding);
    if (!encoded) {
      encoded = encoding === 'br' ? compressBrotli(this.#body, BROTLI) : compressGzip(this.#body);
      this.#encoded.set(encoding, encoded);
    }
    return encoded;
  }
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../shared/clock.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { isStorageKey } from './keys.ts';

/** What a signed URL allows: one method on one key of one region, until it expires. */
export interface Grant {
  method: 'GET' | 'PUT';
  region: RegionId;
  key: string;
  contentType: string;
  /** Bytes, of an upload. */
  size?: number;
  /** Name under which a browser saves a download. */
  fileName?: string;
  /** Share that the request is charged to: the integrator, internal client or user for whom the URL was signed. */
  issuer?: string;
}

/** Why a signed URL is refused. */
export type Refusal = 'ALTERED' | 'EXPIRED';

export const STORAGE_PATH = '/storage';

/** Signs and checks the URLs of the service's own `/storage` routes: HMAC-SHA256 over everything that they say. */
export class UrlSigner {
  readonly #key: Buffer;
  readonly #baseUrl: string;
  readonly #clock: Clock;

  /** @param secret base64url; the key of the signatures is derived from it. */
  constructor(options: { secret: string; baseUrl: string; clock: Clock }) {
    this.#key = createHmac('sha256', Buffer.from(options.secret, 'base64url')).update('storage urls v1').digest();
    this.#baseUrl = options.baseUrl;
    this.#clock = options.clock;
  }

  sign(grant: Grant, expiresInSeconds: number): string {
    const expires = String(Math.floor(this.#clock.now() / 1000) + expiresInSeconds);
    const query = new URLSearchParams({ type: grant.contentType });
    if (grant.size !== undefined) query.set('size', String(grant.size));
    if (grant.fileName !== undefined) query.set('name', grant.fileName);
    if (grant.issuer !== undefined) query.set('issuer', grant.issuer);
    query.set('expires', expires);
    query.set('signature', this.#signatureOf(grant, expires));
    return `${this.#baseUrl}${STORAGE_PATH}/${grant.region}/${grant.key}?${query}`;
  }

  /** The grant that the URL's parts spell out, if this service signed them and they still hold. */
  check(method: 'GET' | 'PUT', region: string, key: string, query: Record<string, unknown>): Grant | Refusal {
    const { type, size, name, issuer, expires, signature, ...others } = query;
    if (!(REGIONS as readonly string[]).includes(region) || !isStorageKey(key)) return 'ALTERED';
    if (typeof type !== 'string' || typeof expires !== 'string' || typeof signature !== 'string') return 'ALTERED';
    if (![size, name, issuer].every(isOptionalText) || Object.keys(others).length > 0) return 'ALTERED';
    const grant: Grant = { method, region: region as RegionId, key, contentType: type };
    if (size !== undefined) grant.size = Number(size);
    if (name !== undefined) grant.fileName = name as string;
    if (issuer !== undefined) grant.issuer = issuer as string;
    const given = Buffer.from(signature);
    const right = Buffer.from(this.#signatureOf(grant, expires));
    if (given.length !== right.length || !timingSafeEqual(given, right)) return 'ALTERED';
    return Number(expires) * 1000 <= this.#clock.now() ? 'EXPIRED' : grant;
  }

  /** A URL without an issuer is signed as it was before there were any, so that those in use stay valid. */
  #signatureOf({ method, region, key, contentType, size, fileName, issuer }: Grant, expires: string): string {
    const fields = [method, region, key, contentType, size ?? null, fileName ?? null, expires];
    const said = JSON.stringify(issuer === undefined ? fields : [...fields, issuer]);
    return createHmac('sha256', this.#key).update(said).digest('base64url');
  }
}

const isOptionalText = (value: unknown): boolean => value === undefined || typeof value === 'string';

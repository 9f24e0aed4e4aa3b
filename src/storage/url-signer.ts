import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../shared/clock.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { isStorageKey } from './keys.ts';

/** The operation that a signed URL allows until it expires. */
export interface SignedUrlClaims {
  method: 'GET' | 'PUT';
  region: RegionId;
  key: string;
  contentType: string;
  /** Exact bytes of an upload. */
  size?: number;
  /** File name of a download in browsers. */
  fileName?: string;
  /** Fair share that the request is charged to: the integrator, internal client or user for whom the URL was signed. */
  shareKey?: string;
}

/** Reason why a signed URL is invalid. */
type SignedUrlFailure = 'ALTERED' | 'EXPIRED';

export const STORAGE_PATH = '/storage';

/** Signs and verifies the URLs of the service's `/storage` routes with an HMAC-SHA256 of all their fields. */
export class UrlSigner {
  readonly #keys: readonly [Buffer, ...Buffer[]];
  /** Public address of the service. */
  readonly baseUrl: string;
  readonly #clock: Clock;

  /** @param options.secrets base64url; a key is derived from each of them. The first signs, all verify. */
  constructor(options: { secrets: readonly string[]; baseUrl: string; clock: Clock }) {
    const [first, ...others] = options.secrets;
    this.#keys = [deriveKey(first!), ...others.map(deriveKey)];
    this.baseUrl = options.baseUrl;
    this.#clock = options.clock;
  }

  sign(claims: SignedUrlClaims, expiresInSeconds: number): string {
    const expires = String(Math.floor(this.#clock.now() / 1000) + expiresInSeconds);
    const { region, key, contentType, size, fileName, shareKey } = claims;
    // A list has many URLs; URLSearchParams would take five times as long.
    let query = `type=${encodeURIComponent(contentType)}`;
    if (size !== undefined) query += `&size=${size}`;
    if (fileName !== undefined) query += `&name=${encodeURIComponent(fileName)}`;
    if (shareKey !== undefined) query += `&issuer=${encodeURIComponent(shareKey)}`;
    query += `&expires=${expires}&signature=${createSignature(this.#keys[0], claims, expires)}`;
    return `${this.baseUrl}${STORAGE_PATH}/${region}/${key}?${query}`;
  }

  /** Returns the claims of a URL, or the reason why it is invalid. */
  verify(
    method: 'GET' | 'PUT',
    region: string,
    key: string,
    query: Record<string, unknown>,
  ): SignedUrlClaims | SignedUrlFailure {
    const { type, size, name, issuer, expires, signature, ...others } = query;
    if (!(REGIONS as readonly string[]).includes(region) || !isStorageKey(key)) return 'ALTERED';
    if (typeof type !== 'string' || typeof expires !== 'string' || typeof signature !== 'string') return 'ALTERED';
    if (![size, name, issuer].every(isOptionalText) || Object.keys(others).length > 0) return 'ALTERED';
    const claims: SignedUrlClaims = { method, region: region as RegionId, key, contentType: type };
    if (size !== undefined) {
      // The signature is that of the number, and JSON writes null for NaN and Infinity.
      if (!/^(?:0|[1-9]\d{0,14})$/.test(size as string)) return 'ALTERED';
      claims.size = Number(size);
    }
    if (name !== undefined) claims.fileName = name as string;
    if (issuer !== undefined) claims.shareKey = issuer as string;
    if (!this.#keys.some((key) => isEqualSignature(signature, createSignature(key, claims, expires)))) return 'ALTERED';
    return Number(expires) * 1000 <= this.#clock.now() ? 'EXPIRED' : claims;
  }
}

/**
 * Returns the key of signed URLs: an HMAC of a label, as in the expand step of HKDF (RFC 5869). A signed URL says nothing about the key
 * of the access tokens.
 */
const deriveKey = (secret: string): Buffer =>
  createHmac('sha256', Buffer.from(secret, 'base64url')).update('storage urls v1').digest();

function createSignature(
  key: Buffer,
  { method, region, key: object, contentType, size, fileName, shareKey }: SignedUrlClaims,
  expires: string,
): string {
  const fields = [method, region, object, contentType, size ?? null, fileName ?? null, expires, shareKey ?? null];
  return createHmac('sha256', key).update(JSON.stringify(fields)).digest('base64url');
}

function isEqualSignature(actual: string, expected: string): boolean {
  const [one, other] = [Buffer.from(actual), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

const isOptionalText = (value: unknown): boolean => value === undefined || typeof value === 'string';

import { createHmac, hkdfSync, randomUUID } from 'node:crypto';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import type { Clock } from '../shared/clock.ts';
import { mapRegions, REGIONS, type RegionId } from '../shared/regions.ts';

/** Lifetime of an access token in seconds. OAU-14. */
export const ACCESS_TOKEN_SECONDS = 3600;

/** Path of the tools for agents, whose address is the audience of their tokens. OAU-48. */
export const MCP_PATH = '/mcp';

/** Claims of an access token. OAU-14. */
export interface AccessClaims {
  /** The client, or the user of an authorization-code token. */
  sub: string;
  client_id: string;
  /** Authorization-code tokens only. */
  builder_id?: string;
  scope: string;
  /** The base URL, or the address of `MCP_PATH`. */
  aud: string;
  /** Begins with the token family and a dot where the token derives from a user's consent. */
  jti: string;
  iat: number;
  exp: number;
}

/** Returns the token family of an access token; null for a client's own token. */
export function parseTokenFamily(jti: string): string | null {
  const dot = jti.indexOf('.');
  return dot < 0 ? null : jti.slice(0, dot);
}

/** Returns the region that the `kid` of a token names, whose key has to verify it; the default region for any other text. */
export function findTokenRegion(token: string): RegionId {
  try {
    const { kid } = decodeProtectedHeader(token);
    return REGIONS.find((region) => kid?.startsWith(`${region}.`)) ?? REGIONS[0];
  } catch {
    return REGIONS[0];
  }
}

/** A key of access tokens of one region. */
interface TokenKey {
  /** The `kid` of its tokens. */
  id: string;
  bytes: Buffer<ArrayBuffer>;
  /** Protected header of its tokens. */
  header: string;
  /** Imported once; jose would import the bytes again for every token that it verifies. */
  key: Promise<CryptoKey>;
}

/**
 * Signs and verifies access tokens: JWTs with HMAC-SHA256, whose issuer is the base URL of the API. Each region has keys of its own, which `kid` names, so that the signature of a token is valid in its region only.
 */
export class AccessTokens {
  readonly #keys: Record<RegionId, readonly TokenKey[]>;
  /** Addresses that tokens are for: the API, and the tools for agents. A token opens one of them. */
  readonly audiences: readonly [api: string, mcp: string];
  readonly #issuer: string;
  readonly #clock: Clock;

  /** @param options.keys base64url. The first signs, all verify. */
  constructor(options: { keys: readonly string[]; issuer: string; clock: Clock }) {
    this.#keys = mapRegions((region) => options.keys.map((key) => deriveRegionKey(key, region)));
    this.#issuer = options.issuer;
    this.audiences = [options.issuer, `${options.issuer}${MCP_PATH}`];
    this.#clock = options.clock;
  }

  /**
   * Returns a new token, a JWS in compact serialization (RFC 7515 section 7.1), and its `jti`. jose would hand the signature to another
   * thread, which takes eight times the processor time.
   *
   * @param family token family of the token; revoking the family revokes the token.
   */
  sign(
    region: RegionId,
    claims: Pick<AccessClaims, 'sub' | 'client_id' | 'builder_id' | 'scope'> & { aud?: string },
    family: string | null = null,
  ): { token: string; jti: string } {
    const { header, bytes } = this.#keys[region][0]!;
    const iat = Math.floor(this.#clock.now() / 1000);
    const jti = family === null ? randomUUID() : `${family}.${randomUUID()}`;
    const aud = claims.aud ?? this.#issuer;
    const standard = { iss: this.#issuer, aud, jti, iat, exp: iat + ACCESS_TOKEN_SECONDS };
    const signed = `${header}.${toBase64Url({ ...claims, ...standard })}`;
    const signature = createHmac('sha256', bytes).update(signed).digest('base64url');
    return { token: `${signed}.${signature}`, jti };
  }

  /**
   * Returns the claims of a token that this service signed for the region and that has not expired, else null. Non-canonical base64url
   * gives null.
   *
   * @param audiences those of which the token has to have one; by default the API alone.
   */
  async verify(
    region: RegionId,
    token: string,
    audiences: readonly string[] = [this.#issuer],
  ): Promise<AccessClaims | null> {
    if (!isCanonical(token)) return null;
    const findKey = ({ kid }: { kid?: string }) => {
      const found = this.#keys[region].find(({ id }) => id === kid);
      if (!found) throw new errors.JWKSNoMatchingKey();
      return found.key;
    };
    try {
      const { payload } = await jwtVerify(token, findKey, {
        algorithms: ['HS256'],
        issuer: this.#issuer,
        audience: [...audiences],
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ['sub', 'client_id', 'scope', 'jti', 'iat', 'exp'],
      });
      return payload as unknown as AccessClaims;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }
}

/** Returns the identifier of a key in base64url. It is derived with a label, so that it says nothing about the key. */
export const toKeyId = (key: string): string =>
  createHmac('sha256', Buffer.from(key, 'base64url')).update('access token key id v1').digest('base64url').slice(0, 11);

/** Derives the key of a region (HKDF, RFC 5869). */
function deriveRegionKey(text: string, region: RegionId): TokenKey {
  const bytes = Buffer.from(hkdfSync('sha256', Buffer.from(text, 'base64url'), '', `access tokens ${region} v1`, 32));
  const id = `${region}.${toKeyId(text)}`;
  return {
    id,
    bytes,
    header: toBase64Url({ alg: 'HS256', typ: 'JWT', kid: id }),
    key: crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']),
  };
}

const toBase64Url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * Whether every part of a JWT is base64url as RFC 7515 section 2 defines it: no padding, no white space, no other alphabet, and no bits
 * beyond the last byte. jose accepts some of these in the signature, so that several texts would be one token.
 */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => Buffer.from(part, 'base64url').toString('base64url') === part);
}

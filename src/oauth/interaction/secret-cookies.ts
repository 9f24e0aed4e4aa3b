import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RegionId } from '../../shared/regions.ts';
import { SESSION_SECONDS } from './sessions.ts';

/** A secret of `newSecret`. */
const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** `known-` cookies live for a year, `session` until the browser closes, `openid` for a sign-in at the provider, which leads back from there. */
const ATTRIBUTES = {
  session: 'SameSite=Lax',
  console: `SameSite=Strict; Max-Age=${SESSION_SECONDS}`,
  openid: 'SameSite=Lax; Max-Age=600',
  'known-user': `SameSite=Strict; Max-Age=${365 * 86_400}`,
  'known-staff': `SameSite=Strict; Max-Age=${365 * 86_400}`,
};

type CookieName = keyof typeof ATTRIBUTES;

/** The cookies with secrets of a request and its response. Each region has its own. */
export class SecretCookies {
  /** @param isSecure whether the cookies are for HTTPS only */
  constructor(
    readonly request: FastifyRequest,
    readonly reply: FastifyReply,
    readonly isSecure: boolean,
  ) {}

  /** Returns the secret in the cookie; null without a valid one. */
  read(name: CookieName, region: RegionId): string | null {
    const prefix = `${this.#nameIn(name, region)}=`;
    const pair = (this.request.headers.cookie ?? '').split(/; */).find((each) => each.startsWith(prefix));
    const secret = pair?.slice(prefix.length);
    return secret !== undefined && SECRET.test(secret) ? secret : null;
  }

  set(name: CookieName, region: RegionId, secret: string, attributes = ATTRIBUTES[name]): void {
    const secure = this.isSecure ? '; Secure' : '';
    this.reply.header(
      'Set-Cookie',
      `${this.#nameIn(name, region)}=${secret}; Path=/; HttpOnly; ${attributes}${secure}`,
    );
  }

  delete(name: CookieName, region: RegionId): void {
    this.set(name, region, '', ATTRIBUTES[name].replace(/Max-Age=\d+/, 'Max-Age=0'));
  }

  /** The `__Host-` prefix keeps other hosts from setting a cookie; browsers accept it over HTTPS only. RFC 6265bis. */
  #nameIn(name: CookieName, region: RegionId): string {
    return `${this.isSecure ? '__Host-' : ''}${name}-${region}`;
  }
}

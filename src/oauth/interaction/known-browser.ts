import { createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RegionId } from '../../shared/regions.ts';
import { readSecretCookie, toCookieName } from './secret-cookie.ts';
import type { Account, AccountKind } from './sessions.ts';

const YEAR_SECONDS = 365 * 86_400;

/** A cookie of one account, which ends with its password. Whoever has it cannot sign in, but is not delayed by failures of others. OAU-27. */
const deriveToken = ({ id, passwordHash }: Account): string =>
  createHmac('sha256', passwordHash).update(`known browser ${id}`).digest('base64url');

const nameOf = (kind: AccountKind, region: RegionId, isSecure: boolean) =>
  toCookieName(`known-${kind}`, region, isSecure);

/** Remembers in the browser that it has signed in to the account. */
export function rememberBrowser(
  reply: FastifyReply,
  kind: AccountKind,
  region: RegionId,
  isSecure: boolean,
  account: Account,
): void {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${YEAR_SECONDS}${isSecure ? '; Secure' : ''}`;
  reply.header('Set-Cookie', `${nameOf(kind, region, isSecure)}=${deriveToken(account)}; ${attributes}`);
}

/** Whether the browser has signed in to the account before, with its present password. */
export function isKnownBrowser(
  request: FastifyRequest,
  kind: AccountKind,
  region: RegionId,
  isSecure: boolean,
  account: Account | null,
): boolean {
  const token = readSecretCookie(request, nameOf(kind, region, isSecure));
  return token !== null && account !== null && timingSafeEqual(Buffer.from(token), Buffer.from(deriveToken(account)));
}

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { RegionId } from '../../shared/regions.ts';
import type { PageRequest } from './page-request.ts';
import type { Account } from './sessions.ts';

/** A cookie of one account, which ends with its password. Whoever has it cannot sign in, but is not delayed by failures of others. OAU-27. */
const deriveToken = ({ id, credential }: Account): string =>
  createHmac('sha256', credential).update(`known browser ${id}`).digest('base64url');

/** Remembers in the browser that it has signed in to the account. */
export const rememberBrowser = ({ cookies, accountKind }: PageRequest, region: RegionId, account: Account): void =>
  cookies.set(`known-${accountKind}`, region, deriveToken(account));

/** Whether the browser has signed in to the account before, with its present password. */
export function isKnownBrowser({ cookies, accountKind }: PageRequest, region: RegionId, account: Account | null) {
  const token = cookies.read(`known-${accountKind}`, region);
  return token !== null && account !== null && timingSafeEqual(Buffer.from(token), Buffer.from(deriveToken(account)));
}

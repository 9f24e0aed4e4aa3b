import { timingSafeEqual } from 'node:crypto';
import { deriveCsrfToken } from '../interaction/browser-id.ts';
import { pageExpired } from '../interaction/page-error.ts';

/** Throws a 403 page unless the form carries the CSRF token of this browser. RFC 6749 section 10.12, OAU-26. */
export function requireCsrfToken(sent: string | undefined, browserId: string | null): void {
  if (browserId === null || sent === undefined) throw pageExpired();
  const [actual, expected] = [sent, deriveCsrfToken(browserId)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) throw pageExpired();
}

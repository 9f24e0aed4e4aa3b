import { createHmac, timingSafeEqual } from 'node:crypto';
import { pageExpired } from './page-error.ts';

/** Derives the CSRF token of the browser's forms, from which the browser id cannot be computed. */
export const deriveCsrfToken = (browserId: string) =>
  createHmac('sha256', browserId).update('csrf').digest('base64url');

/** Throws a 403 page unless the form carries the CSRF token of this browser. RFC 6749 section 10.12, OAU-26. */
export function requireCsrfToken(sent: string | undefined, browserId: string | null): void {
  if (browserId === null || sent === undefined) throw pageExpired();
  const [actual, expected] = [sent, deriveCsrfToken(browserId)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) throw pageExpired();
}

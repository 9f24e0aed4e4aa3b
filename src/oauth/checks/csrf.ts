import { timingSafeEqual } from 'node:crypto';
import { csrfTokenOf } from '../interaction/browser.ts';
import { pageExpired } from '../interaction/page-error.ts';

/** The form was shown to this browser. RFC 6749 section 10.12, OAU-26. */
export function requireCsrfToken(sent: string | undefined, browserId: string | null): void {
  if (browserId === null || sent === undefined) throw pageExpired();
  const [given, expected] = [sent, csrfTokenOf(browserId)].map((text) => Buffer.from(text)) as [Buffer, Buffer];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw pageExpired();
}

import type { FastifyReply } from 'fastify';
import { layout, type Page } from './pages/layout.ts';

/**
 * Sends a page under a policy of its own: no script, no frame, and forms that go to us alone.
 *
 * @param redirectUri where a form of the page may end up: Chromium holds `form-action` against the redirect that answers it.
 */
export function sendPage(
  reply: FastifyReply,
  status: number,
  page: Page,
  redirectUri: string | null = null,
): FastifyReply {
  const target = redirectUri === null ? [] : [formTargetOf(redirectUri)];
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${["'self'", ...(page.images ?? [])].join(' ')}`,
    `form-action ${["'self'", ...target].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return reply
    .code(status)
    .headers({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policy,
      'X-Frame-Options': 'DENY',
    })
    .send(layout(page));
}

/** The source expression that covers a redirect URI. The grammar of policies has no IPv6 address and no private scheme's host. */
export function formTargetOf(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  return /^https?:$/.test(protocol) && !hostname.startsWith('[') ? origin : protocol;
}

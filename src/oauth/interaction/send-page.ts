import type { FastifyReply } from 'fastify';
import { layout, type Page } from './pages/layout.ts';

/**
 * Sends a page under a policy of its own: no script, no frame, and forms that end nowhere but with us or the application.
 *
 * @param redirectUri where a form of the page may end up: Chromium holds `form-action` against the redirects that answer it.
 */
export function sendPage(
  reply: FastifyReply,
  status: number,
  page: Page,
  redirectUri: string | null = null,
): FastifyReply {
  const target = redirectUri === null ? [] : formTargetsOf(redirectUri);
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

/**
 * Schemes that a form may end at by way of a redirect URI. Schemes and no hosts, because Chromium looks at every redirect on
 * the way: an application whose callback goes on to another host of its own would never see the browser arrive.
 */
export function formTargetsOf(redirectUri: string): string[] {
  const { protocol } = new URL(redirectUri);
  return protocol === 'http:' ? ['http:', 'https:'] : [protocol];
}

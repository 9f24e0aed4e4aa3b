import type { FastifyReply } from 'fastify';
import { type Page, renderPage } from './pages/layout.ts';

/**
 * Returns the headers of a page, with a Content-Security-Policy that allows no scripts, no frames, and forms to this origin only.
 *
 * @param images other origins that images are loaded from
 * @param redirectUri the client's redirect URI, when a form of the page may redirect to it: Chromium applies `form-action`
 *   to the redirects after a form too
 */
export function createPageHeaders(images: readonly string[] = [], redirectUri: string | null = null) {
  const redirectSources = redirectUri === null ? [] : toFormActionSources(redirectUri);
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${["'self'", ...images].join(' ')}`,
    `form-action ${["'self'", ...redirectSources].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
  };
}

/** Sends a page. @param redirectUri see `createPageHeaders` */
export const sendPage = (
  reply: FastifyReply,
  status: number,
  page: Page,
  redirectUri: string | null = null,
): FastifyReply => reply.code(status).headers(createPageHeaders(page.images, redirectUri)).send(renderPage(page));

/**
 * Returns the `form-action` sources that allow redirects to a redirect URI. They are schemes without hosts, because
 * Chromium checks every redirect of the chain, and a client's callback may redirect to another host.
 */
function toFormActionSources(redirectUri: string): string[] {
  const { protocol } = new URL(redirectUri);
  return protocol === 'http:' ? ['http:', 'https:'] : [protocol];
}

import { isLoopback } from '../../../config.ts';
import { icon, stylesheet } from './assets.ts';
import { html, type Markup } from './html.ts';

/** Name of the service, as users see it. */
export const SERVICE_NAME = 'Builder Integration';

export interface Page {
  /** Title of the browser tab, without the name of the service. */
  title: string;
  content: Markup;
  /** Reduces the width, for a page with one short form. */
  narrow?: boolean;
  /** Other origins that images are loaded from. */
  images?: readonly string[];
}

/** Renders the document from the doctype to the end of the head. */
export const renderHead = (title: string, stylesheetPath: string): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – ${SERVICE_NAME}</title>
<link rel="stylesheet" href="${stylesheetPath}">
<link rel="icon" href="${icon.path}" type="image/svg+xml">
</head>`;

/** Renders the complete HTML document of a page. */
export const renderPage = ({ title, content, narrow = false }: Page): string =>
  html`${renderHead(title, stylesheet.path)}
<body${narrow && html` class="narrow"`}>
<header class="masthead"><img src="${icon.path}" alt="" width="28" height="28">${SERVICE_NAME}</header>
<main>
<div class="card">
${content}
</div>
</main>
<footer>Only sign in or allow access if you started this yourself.</footer>
</body>
</html>
`.text;

/**
 * Renders the logo of a builder, or the initial of its name when there is no logo or it fails to load: a loaded logo pushes
 * the initial out of the badge. Hidden from screen readers, because the name is next to it.
 */
export const renderBadge = (name: string, logoUrl: string | null): Markup =>
  html`<span class="badge" aria-hidden="true">${
    logoOrigin(logoUrl) !== null && html`<img src="${logoUrl}" alt="">`
  }<span>${getInitial(name)}</span></span>`;

const getInitial = (name: string) => [...name.trim()][0]?.toUpperCase() ?? '';

/** Returns the origins of the logos, without duplicates. */
export const logoOrigins = (logoUrls: readonly (string | null)[]): string[] => [
  ...new Set(logoUrls.map(logoOrigin).filter((origin) => origin !== null)),
];

/** Null without a logo, and for a logo without HTTPS, except on loopback. */
function logoOrigin(logoUrl: string | null): string | null {
  if (logoUrl === null || !URL.canParse(logoUrl)) return null;
  const { protocol, origin, hostname } = new URL(logoUrl);
  return protocol === 'https:' || isLoopback(hostname) ? origin : null;
}

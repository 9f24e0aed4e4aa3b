import { isLoopback } from '../../../config.ts';
import { icon, stylesheet } from './assets.ts';
import { html, type Markup } from './html.ts';

/** The service as people know it. */
export const SERVICE_NAME = 'Builder Integration';

export interface Page {
  /** Of the browser's tab; the service's name is added. */
  title: string;
  content: Markup;
  /** For a page with one short form. */
  narrow?: boolean;
  /** Origins of the images that it shows beside our own. */
  images?: readonly string[];
}

/** The beginning of every document, to the end of its head. */
export const documentHead = (title: string, stylesheetPath: string): Markup => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – ${SERVICE_NAME}</title>
<link rel="stylesheet" href="${stylesheetPath}">
<link rel="icon" href="${icon.path}" type="image/svg+xml">
</head>`;

/** A whole page around the content of one. */
export const layout = ({ title, content, narrow = false }: Page): string =>
  html`${documentHead(title, stylesheet.path)}
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
 * Logo of a company, or its initial where it has none or it does not load: a logo that is there pushes the initial out of the
 * badge. Beside the name, so it says nothing by itself.
 */
export const badge = (name: string, logoUrl: string | null): Markup =>
  html`<span class="badge" aria-hidden="true">${
    logoOrigin(logoUrl) !== null && html`<img src="${logoUrl}" alt="">`
  }<span>${initialOf(name)}</span></span>`;

const initialOf = (name: string) => [...name.trim()][0]?.toUpperCase() ?? '';

/** Origins that a page loads these logos from. */
export const logoOrigins = (logoUrls: readonly (string | null)[]): string[] => [
  ...new Set(logoUrls.map(logoOrigin).filter((origin) => origin !== null)),
];

/** Null for no logo, and for one that would not come over HTTPS. */
function logoOrigin(logoUrl: string | null): string | null {
  if (logoUrl === null || !URL.canParse(logoUrl)) return null;
  const { protocol, origin, hostname } = new URL(logoUrl);
  return protocol === 'https:' || isLoopback(hostname) ? origin : null;
}

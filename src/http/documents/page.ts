import { hashBody } from './static-document.ts';

/** Escapes a text for HTML. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Address of the service in the built pages, and in the committed OpenAPI document. */
export const PLACEHOLDER_URL = 'https://api.example.com';

/** Ids in the examples of the OpenAPI document, which are of no record. */
export const EXAMPLE_ID = /\b([a-z]+)_a0mkq3v8t2n4c7x1p9r5w6yzb\b/g;

/** Name of the built Postman collection. */
export const POSTMAN_FILE = 'postman.json';

/** Returns the name of the built page of a path. */
export const toPageFile = (path: string): string => `${path.slice('/docs/'.length) || 'reference'}.html`;

/** Address and text of an entry of the contents. */
export type Link = [href: string, text: string];

/** A part of a guide, as the search reads it. */
export interface Section {
  /** Path of its page, with the anchor of its heading. */
  href: string;
  title: string;
  text: string;
}

/** What is built beside the pages. */
export interface BuiltContents {
  paths: string[];
  links: Link[];
  sections: Section[];
}

interface Page {
  title: string;
  /** Entries of the contents. */
  links: Link[];
  /** HTML below the title. */
  content: string;
  /** What was searched for, on the page of results. */
  searched?: string;
}

/** Returns a page of the documentation, which works without scripts. */
export function renderPage({ title, links, content, searched = '' }: Page): string {
  const entries = links.map(([href, text]) => {
    const current = text === title ? ' aria-current="page"' : '';
    return `<li><a href="${escapeHtml(href)}"${current}>${escapeHtml(text)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${STYLESHEET}">
</head>
<body>
<nav aria-label="Contents">
<form action="/docs/search" role="search"><input type="search" name="q" aria-label="Search the guides" placeholder="Search the guides" maxlength="100" value="${escapeHtml(searched)}"></form>
<ul>${entries.join('')}</ul>
</nav>
<main>
<h1>${escapeHtml(title)}</h1>
${content}
</main>
</body>
</html>
`;
}

/** Styles of the pages, which their Content-Security-Policy allows from a file only. */
export const PAGE_STYLES = `:root { color-scheme: light dark; background: light-dark(#fff, #14171c); color: light-dark(#1b1f24, #e2e5ea); }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
nav ul { list-style: none; margin: 0.5rem 0 1rem; padding: 0.25rem; max-height: 8rem; overflow-y: auto; border-bottom: 1px solid light-dark(#d5d8dd, #3b3f46); }
nav a:not(:hover) { text-decoration: none; }
nav [aria-current] { font-weight: bold; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2rem; }
  nav { position: sticky; top: 1rem; align-self: start; }
  nav ul { max-height: calc(100vh - 6rem); border: 0; }
}
h1 { margin-top: 0.25rem; line-height: 1.2; }
h1, h2, h3, code { overflow-wrap: anywhere; }
p, main li { max-width: 46rem; }
a { color: light-dark(#0b57a4, #8ab8ff); }
input { box-sizing: border-box; width: 100%; padding: 0.5rem; font: inherit; color: inherit; background: light-dark(#fff, #22262d); border: 1px solid light-dark(#767b83, #8b919b); border-radius: 0.25rem; }
::placeholder { color: light-dark(#5b616a, #a9afb8); }
:target { background: light-dark(#fff3bf, #4a4000); }
code { font: 0.9em ui-monospace, monospace; }
pre code { overflow-wrap: normal; }
pre, .table { overflow-x: auto; }
pre { padding: 0.75rem; background: light-dark(#f2f3f5, #22262d); border-radius: 0.25rem; }
section { border-top: 1px solid light-dark(#d5d8dd, #3b3f46); }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top; }
th { white-space: nowrap; }
`;

export const STYLESHEET = `/docs/pages-${hashBody(PAGE_STYLES)}.css`;

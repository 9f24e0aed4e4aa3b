import { Marked, type Tokens } from 'marked';

/** Escapes a text for HTML. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Returns the anchor of a heading; that of a code, such as `RATE_LIMITED`, is the code itself. */
export const toAnchor = (text: string): string => (/^[A-Z_]+$/.test(text) ? text : toWords(text));

const toWords = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

/** The number of a rule at the beginning of a list item: `**ERR-1** …`. */
const RULE = /^\*\*([A-Z]{3}-\d+)\*\*/;

/** Headings and numbered rules have anchors. HTML is shown as text; comments are left out. */
const marked = new Marked({
  async: false,
  renderer: {
    html: ({ text }) => (text.startsWith('<!--') ? '' : escapeHtml(text)),
    heading({ tokens, depth, text }: Tokens.Heading) {
      return `<h${depth} id="${toAnchor(text)}">${this.parser.parseInline(tokens)}</h${depth}>`;
    },
    listitem({ tokens, text }: Tokens.ListItem) {
      const rule = RULE.exec(text)?.[1];
      return `<li${rule ? ` id="${rule}"` : ''}>${this.parser.parse(tokens)}</li>`;
    },
    code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`,
    table(token: Tokens.Table) {
      const cells = (row: Tokens.TableCell[]) => row.map(({ tokens }) => this.parser.parseInline(tokens));
      return renderTable(cells(token.header), token.rows.map(cells));
    },
  },
});
export const renderMarkdown = (text: string): string => marked.parse(text) as string;
export const renderInline = (text: string): string => marked.parseInline(text) as string;

/** Renders a table of HTML cells; empty without rows. */
export function renderTable(headings: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  const toRow = (cells: string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="table" tabindex="0"><table><thead>${toRow(headings, 'th')}</thead><tbody>${rows.map((row) => toRow(row, 'td')).join('')}</tbody></table></div>`;
}

interface Page {
  title: string;
  /** Path of its styles. */
  stylesheet: string;
  /** Address and text of each entry of the contents. */
  links: [href: string, text: string][];
  /** HTML below the title. */
  content: string;
  /** What was searched for, on the page of results. */
  searched?: string;
}

/** Returns a page of the documentation, which works without scripts. */
export function renderPage({ title, stylesheet, links, content, searched = '' }: Page): string {
  const entries = links.map(([href, text]) => `<li><a href="${escapeHtml(href)}">${escapeHtml(text)}</a></li>`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="stylesheet" href="${stylesheet}">
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
export const PAGE_STYLES = `:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
@media (min-width: 60rem) {
  body { display: grid; grid-template-columns: 13rem minmax(0, 1fr); gap: 2rem; }
  nav { position: sticky; top: 1rem; align-self: start; }
}
nav ul { list-style: none; padding: 0; }
a { color: light-dark(#0b57a4, #8ab8ff); }
input { box-sizing: border-box; width: 100%; padding: 0.5rem; font: inherit; }
:target { background: light-dark(#fff3bf, #4a4000); }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
pre, .table { overflow-x: auto; }
pre { padding: 0.75rem; background: light-dark(#f2f3f5, #22252a); }
section { border-top: 1px solid light-dark(#d5d8dd, #3b3f46); }
table { border-collapse: collapse; }
th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: left; vertical-align: top; }
th { white-space: nowrap; }
`;

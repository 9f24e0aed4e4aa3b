import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../page.ts';

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
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Returns what a reader sees of rendered HTML. */
export const toText = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code))
    .replace(/&(\w+);/g, (entity, name) => ENTITIES[name] ?? entity)
    .trim();

export const renderInline = (text: string): string => marked.parseInline(text) as string;

/** Renders a table of HTML cells; empty without rows. */
export function renderTable(headings: string[], rows: string[][]): string {
  if (rows.length === 0) return '';
  const toRow = (cells: string[], tag: string) =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`;
  return `<div class="table" tabindex="0"><table><thead>${toRow(headings, 'th')}</thead><tbody>${rows.map((row) => toRow(row, 'td')).join('')}</tbody></table></div>`;
}

import { type BuiltContents, escapeHtml, renderPage } from './page.ts';

const MAX_RESULTS = 30;
/** Characters of a result's text. */
const EXCERPT = 240;

/** Returns a page of the sections that contain all words, those with the words in their titles first. */
export function renderSearchPage({ links, sections }: BuiltContents, query: string): string {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const contains = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const found = words.length === 0 ? [] : sections.filter(({ title, text }) => contains(`${title} ${text}`));
  const ranked = [...found.filter(({ title }) => contains(title)), ...found.filter(({ title }) => !contains(title))];
  const results = ranked.slice(0, MAX_RESULTS).map(({ href, title, text }) => {
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]!) - EXCERPT / 4);
    return `<li><a href="${href}">${escapeHtml(title)}</a><p>${escapeHtml(text.slice(at, at + EXCERPT).toWellFormed())}</p></li>`;
  });
  const content =
    results.length > 0 ? `<ul>${results.join('')}</ul>` : '<p>No section contains all of these words.</p>';
  return renderPage({ title: 'Search', links, content, searched: query });
}

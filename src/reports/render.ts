import type { PhotoReport } from '../../entities/photo-report.entity.ts';
import type {
  ReportBlock,
  ReportChildPage,
  ReportImage,
  ReportList,
  ReportListItem,
  ReportPage,
  RichTextRun,
} from '../../resolvers/photo-report/report-tree.type.ts';
import { icon } from '../oauth/interaction/pages/assets.ts';
import { type FormContext, form } from '../oauth/interaction/pages/forms.ts';
import { html, type Markup } from '../oauth/interaction/pages/html.ts';
import { documentHead, SERVICE_NAME } from '../oauth/interaction/pages/layout.ts';
import type { SignedInUser } from '../oauth/interaction/sessions.ts';

/** A photo that can be shown. */
export interface ShownPhoto {
  /** Signed. */
  url: string;
  description: string | null;
}

/** What a report's page shows. */
export interface ReportView {
  report: PhotoReport;
  projectName: string | null;
  tree: ReportPage;
  /** By attachment id; the ones that are archived are not among them. */
  photos: ReadonlyMap<string, ShownPhoto>;
  /** Of its content, about. */
  bytes: number;
  /** Who reads it. */
  user: SignedInUser;
}

/**
 * The report as a page, in pieces: it may have megabytes. Every text is escaped; the only addresses are our own and, of the deep
 * link, one under HTTPS.
 */
export function* renderReport(
  { report, projectName, tree, photos, user }: ReportView,
  forms: FormContext,
  stylesheet: string,
): Generator<string> {
  const { sourceAuthor, sourceApp, sourceDeepLink } = report;
  const title = titleOf(tree);
  yield html`${documentHead(title, stylesheet)}
<body>
<header>
<span class="service"><img src="${icon.path}" alt="" width="28" height="28">${SERVICE_NAME}</span>
<span class="who"><span>${user.name}</span>${form(forms, '/reports/sign-out', html`<button>Sign out</button>`, 'out')}</span>
</header>
<main>
<article>
<h1>${title}</h1>
${report.archivedAt !== null && html`<p class="archived">Archived ${instant(report.archivedAt)}</p>`}
<dl>
${projectName !== null && html`<dt>Project</dt><dd>${projectName}</dd>`}
<dt>Walked</dt><dd>${instant(report.walkthroughDate)}</dd>
<dt>Author</dt><dd>${sourceAuthor.name}</dd>
<dt>Source</dt><dd>${sourceDeepLink?.startsWith('https://') ? html`<a href="${sourceDeepLink}" rel="noopener noreferrer">${sourceApp}</a>` : sourceApp}, revision ${report.sourceRevision}</dd>
${report.status === 'partial' && html`<dt>Images</dt><dd class="partial">Some have failed to arrive</dd>`}
</dl>
${renderLead(tree)}
${renderContents(tree)}
`.text;
  yield* renderBlocks(tree, 1, photos);
  yield `
</article>
</main>
</body>
</html>
`;
}

type Photos = ReportView['photos'];

const titleOf = ({ title }: ReportPage): string => (/\S/.test(title) ? title : 'Untitled');

const DAY_AND_TIME = new Intl.DateTimeFormat('en-AU', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });

const instant = (at: string): Markup => html`<time datetime="${at}">${DAY_AND_TIME.format(new Date(at))} UTC</time>`;

/** Links to the pages within the page; nothing where there are none. */
function renderContents(tree: ReportPage): Markup | null {
  const entries = childrenOf(tree).map(renderEntry);
  return entries.length === 0 ? null : html`<nav aria-label="Pages"><ul>${entries}</ul></nav>`;
}

function renderEntry(page: ReportPage): Markup {
  const inner = childrenOf(page).map(renderEntry);
  return html`<li><a href="#${page.id}">${titleOf(page)}</a>${inner.length > 0 && html`<ul>${inner}</ul>`}</li>`;
}

const childrenOf = ({ blocks }: ReportPage): ReportPage[] =>
  blocks.flatMap((block) => ('childPage' in block ? [block.childPage as ReportPage] : []));

const renderLead = ({ shortDescription }: ReportPage): Markup | null =>
  shortDescription ? html`<p class="lead">${shortDescription}</p>` : null;

function* renderBlocks({ blocks }: ReportPage, level: number, shown: Photos): Generator<string> {
  if (blocks.length === 0) yield html`<p class="empty">Nothing is on this page.</p>`.text;
  for (const block of blocks) {
    if ('childPage' in block) yield* renderChild(block.childPage as ReportPage, level + 1, shown);
    else yield renderBlock(block, level, shown).text;
  }
}

function renderBlock(block: Exclude<ReportBlock, ReportChildPage>, level: number, shown: Photos): Markup {
  if ('items' in block) return renderItems(block.items, block.type);
  if ('imageStatus' in block) return renderImage(block, shown);
  if ('level' in block) return heading(Math.min(level + block.level, 6), renderRuns(block.richText));
  return html`<p>${renderRuns(block.richText)}</p>
`;
}

function* renderChild(page: ReportPage, level: number, shown: Photos): Generator<string> {
  yield html`<section class="page" id="${page.id}">
${heading(level, html`${titleOf(page)}`)}
${renderLead(page)}
`.text;
  yield* renderBlocks(page, level, shown);
  yield `
</section>
`;
}

function heading(level: number, content: Markup): Markup {
  switch (level) {
    case 2:
      return html`<h2>${content}</h2>`;
    case 3:
      return html`<h3>${content}</h3>`;
    case 4:
      return html`<h4>${content}</h4>`;
    case 5:
      return html`<h5>${content}</h5>`;
    default:
      return html`<h6>${content}</h6>`;
  }
}

/** Items that are deeper than the one before them are a list within it. */
function renderItems(items: readonly ReportListItem[], type: ReportList['type']): Markup {
  const content: Markup[] = [];
  for (let at = 0, next = 0; at < items.length; at = next) {
    const { depth, checked, richText } = items[at]!;
    for (next = at + 1; next < items.length && items[next]!.depth > depth; ) next++;
    const within = next > at + 1 && renderItems(items.slice(at + 1, next), type);
    const check = type === 'CHECKLIST' && renderCheck(checked);
    content.push(html`<li>${check}<span class="text">${renderRuns(richText)}</span>${within}</li>`);
  }
  if (type === 'ORDERED_LIST') return html`<ol>${content}</ol>`;
  return type === 'CHECKLIST' ? html`<ul class="checks">${content}</ul>` : html`<ul>${content}</ul>`;
}

const renderCheck = (checked: boolean | null): Markup =>
  html`<span class="check${checked && ' done'}" role="img" aria-label="${checked ? 'done' : 'open'}"></span>`;

function renderImage({ attachmentId, imageFailure }: ReportImage, shown: Photos): Markup {
  if (imageFailure) return html`<p class="failed">${imageFailure.message} <code>${imageFailure.code}</code></p>`;
  const photo = shown.get(attachmentId!);
  if (photo === undefined) return html`<p class="gone">The photo is archived.</p>`;
  const { url, description } = photo;
  const caption = description && html`<figcaption>${description}</figcaption>`;
  return html`<figure><a href="${url}"><img src="${url}" alt="${description || 'Photo'}" loading="lazy"></a>${caption || null}</figure>`;
}

function renderRuns(runs: RichTextRun[]): Markup {
  return html`${runs.map(({ text, marks }) => {
    const italic = marks.includes('ITALIC') ? html`<em>${text}</em>` : html`${text}`;
    return marks.includes('BOLD') ? html`<strong>${italic}</strong>` : italic;
  })}`;
}

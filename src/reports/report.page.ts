import type { PhotoReport } from '../../entities/photo-report.entity.ts';
import type {
  ReportBlock,
  ReportChildPage,
  ReportImage,
  ReportList,
  ReportListItem,
  ReportPage,
  RichTextRun,
} from '../../entities/report-tree.type.ts';
import type { Rendition } from '../domain/photos/renditions.ts';
import { icon } from '../oauth/interaction/pages/assets.ts';
import { type FormContext, renderForm } from '../oauth/interaction/pages/forms.ts';
import { html, type Markup } from '../oauth/interaction/pages/html.ts';
import { renderHead, SERVICE_NAME } from '../oauth/interaction/pages/layout.ts';
import type { SignedInUser } from '../oauth/interaction/sessions.ts';

/** A photo on the report page. */
interface PhotoView {
  /** Signed download URL of the original. */
  url: string;
  description: string | null;
  /** Whether its dimensions are unknown, because it is not rendered yet. */
  isPending: boolean;
  small: Rendition;
  medium: Rendition;
  large: Rendition;
}

/** Data of the report page. */
export interface ReportView {
  report: PhotoReport;
  projectName: string | null;
  /** The builder's. */
  timeZone: string;
  tree: ReportPage;
  /** By attachment id, without archived photos. */
  photos: ReadonlyMap<string, PhotoView>;
  /** Approximate size of the stored content, in bytes. */
  contentBytes: number;
  /** The signed-in user. */
  user: SignedInUser;
}

/**
 * Renders the report page in chunks, because a report may have megabytes. Every text is escaped. The only external link is
 * the deep link, and only with HTTPS.
 */
export function* renderReportPage(
  { report, projectName, timeZone, tree, photos, user }: ReportView,
  forms: FormContext,
  stylesheet: string,
): Generator<string> {
  const { sourceAuthor, sourceApp, sourceDeepLink } = report;
  const title = getTitle(tree);
  yield html`${renderHead(title, stylesheet)}
<body>
<header>
<span class="service"><img src="${icon.path}" alt="" width="28" height="28">${SERVICE_NAME}</span>
<span class="who"><span>${user.name}</span>${renderForm(forms, '/reports/sign-out', html`<button>Sign out</button>`, 'out')}</span>
</header>
<main>
<article>
<h1>${title}</h1>
${report.archivedAt !== null && html`<p class="archived">Archived ${renderInstant(report.archivedAt, timeZone)}</p>`}
<dl>
${projectName !== null && html`<dt>Project</dt><dd>${projectName}</dd>`}
<dt>Walkthrough</dt><dd>${renderInstant(report.walkthroughDate, timeZone)}</dd>
<dt>Author</dt><dd>${sourceAuthor.name}</dd>
<dt>Source</dt><dd>${sourceDeepLink?.startsWith('https://') ? html`<a href="${sourceDeepLink}" rel="noopener noreferrer">${sourceApp}</a>` : sourceApp}, revision ${report.sourceRevision}</dd>
${report.status === 'partial' && html`<dt>Images</dt><dd class="partial">Some are missing</dd>`}
</dl>
${renderLead(tree)}
${renderTableOfContents(tree)}
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

const getTitle = ({ title }: ReportPage): string => (/\S/.test(title) ? title : 'Untitled');

const DATE_TIME_PARTS = { day: 'numeric', month: 'long', year: 'numeric', hour: 'numeric', minute: '2-digit' } as const;

/** Renders an instant with the abbreviation of the zone then and there: `2 March 2026 at 6:30 pm AEDT`. */
function renderInstant(at: string, timeZone: string): Markup {
  const format = new Intl.DateTimeFormat('en-AU', { ...DATE_TIME_PARTS, timeZone, timeZoneName: 'short' });
  return html`<time datetime="${at}">${format.format(new Date(at))}</time>`;
}

/** Renders the table of contents; null for a page without child pages. */
function renderTableOfContents(tree: ReportPage): Markup | null {
  const entries = findChildPages(tree).map(renderContentsEntry);
  return entries.length === 0 ? null : html`<nav aria-label="Pages"><ul>${entries}</ul></nav>`;
}

function renderContentsEntry(page: ReportPage): Markup {
  const inner = findChildPages(page).map(renderContentsEntry);
  return html`<li><a href="#${page.id}">${getTitle(page)}</a>${inner.length > 0 && html`<ul>${inner}</ul>`}</li>`;
}

const findChildPages = ({ blocks }: ReportPage): ReportPage[] =>
  blocks.flatMap((block) => ('childPage' in block ? [block.childPage as ReportPage] : []));

const renderLead = ({ shortDescription }: ReportPage): Markup | null =>
  shortDescription ? html`<p class="lead">${shortDescription}</p>` : null;

function* renderBlocks({ blocks }: ReportPage, level: number, photos: Photos): Generator<string> {
  if (blocks.length === 0) yield html`<p class="empty">This page is empty.</p>`.text;
  for (const block of blocks) {
    if ('childPage' in block) yield* renderChildPage(block.childPage as ReportPage, level + 1, photos);
    else yield renderBlock(block, level, photos).text;
  }
}

function renderBlock(block: Exclude<ReportBlock, ReportChildPage>, level: number, photos: Photos): Markup {
  if ('items' in block) return renderList(block.items, block.type);
  if ('imageStatus' in block) return renderFigure(block, photos);
  if ('level' in block) return renderHeading(Math.min(level + block.level, 6), renderRichText(block.richText));
  return html`<p>${renderRichText(block.richText)}</p>
`;
}

function* renderChildPage(page: ReportPage, level: number, photos: Photos): Generator<string> {
  yield html`<section class="page" id="${page.id}">
${renderHeading(level, html`${getTitle(page)}`)}
${renderLead(page)}
`.text;
  yield* renderBlocks(page, level, photos);
  yield `
</section>
`;
}

const HEADINGS: Record<number, (content: Markup) => Markup> = {
  2: (content) => html`<h2>${content}</h2>`,
  3: (content) => html`<h3>${content}</h3>`,
  4: (content) => html`<h4>${content}</h4>`,
  5: (content) => html`<h5>${content}</h5>`,
  6: (content) => html`<h6>${content}</h6>`,
};

const renderHeading = (level: number, content: Markup): Markup => HEADINGS[level]!(content);

/** Renders a list; items with a greater depth than the one before them form a nested list within it. */
function renderList(items: readonly ReportListItem[], type: ReportList['type']): Markup {
  const content: Markup[] = [];
  for (let at = 0, next = 0; at < items.length; at = next) {
    const { depth, checked, richText } = items[at]!;
    for (next = at + 1; next < items.length && items[next]!.depth > depth; ) next++;
    const nested = next > at + 1 && renderList(items.slice(at + 1, next), type);
    const checkbox = type === 'CHECKLIST' && renderCheckbox(checked);
    content.push(html`<li>${checkbox}<span class="text">${renderRichText(richText)}</span>${nested}</li>`);
  }
  if (type === 'ORDERED_LIST') return html`<ol>${content}</ol>`;
  return type === 'CHECKLIST' ? html`<ul class="checks">${content}</ul>` : html`<ul>${content}</ul>`;
}

const renderCheckbox = (checked: boolean | null): Markup =>
  html`<span class="check${checked && ' done'}" role="img" aria-label="${checked ? 'done' : 'open'}"></span>`;

/**
 * Width at which browsers choose a rendition. Phones have up to three pixels per CSS pixel; half of the width is enough there, and saves
 * most of the bytes.
 */
const SIZES = '(max-width: 700px) 50vw, 640px';

function renderFigure({ attachmentId, imageFailure }: ReportImage, photos: Photos): Markup {
  if (imageFailure) return html`<p class="failed">${imageFailure.message} <code>${imageFailure.code}</code></p>`;
  const photo = photos.get(attachmentId!);
  if (photo === undefined) return html`<p class="gone">The photo is archived.</p>`;
  const { url, description, isPending, small, medium, large } = photo;
  const caption = description && html`<figcaption>${description}</figcaption>`;
  const sources = [small, medium, large].map((each) => `${each.url} ${each.width}w`).join(', ');
  return html`<figure><a href="${url}"><img class="${isPending && 'pending'}" src="${medium.url}" srcset="${sources}" sizes="${SIZES}" width="${medium.width}" height="${medium.height}" alt="${description || 'Photo'}" loading="lazy" decoding="async"></a>${caption || null}</figure>`;
}

function renderRichText(runs: RichTextRun[]): Markup {
  return html`${runs.map(({ text, marks }) => {
    const italic = marks.includes('ITALIC') ? html`<em>${text}</em>` : html`${text}`;
    return marks.includes('BOLD') ? html`<strong>${italic}</strong>` : italic;
  })}`;
}

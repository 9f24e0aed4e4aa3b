import type { PhotoReport } from '../../entities/photo-report.entity.ts';
import type {
  ReportBlock,
  ReportImage,
  ReportList,
  ReportListItem,
  ReportPage,
  RichTextRun,
} from '../../resolvers/photo-report/report-tree.type.ts';
import { html, type Markup } from '../oauth/pages/html.ts';

/** What a report's page shows beside its tree. */
export interface ReportView {
  report: PhotoReport;
  projectName: string | null;
  tree: ReportPage;
  /** Signed addresses of the photos, by attachment id; the ones that are archived are not among them. */
  imageUrls: ReadonlyMap<string, string>;
}

/** The report as a page. Every text is escaped; the only addresses are our own and, of the deep link, one under HTTPS. */
export function renderReport({ report, projectName, tree, imageUrls }: ReportView, stylesheet: string): string {
  const { sourceAuthor, sourceApp, sourceDeepLink } = report;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${tree.title}</title>
<link rel="stylesheet" href="${stylesheet}">
</head>
<body>
<main>
<article>
<h1>${tree.title}</h1>
${report.archivedAt !== null && html`<p class="archived">Archived ${report.archivedAt}</p>`}
<dl>
${projectName !== null && html`<dt>Project</dt><dd>${projectName}</dd>`}
<dt>Walked</dt><dd><time datetime="${report.walkthroughDate}">${report.walkthroughDate}</time></dd>
<dt>Author</dt><dd>${sourceAuthor.name}</dd>
<dt>Source</dt><dd>${sourceDeepLink?.startsWith('https://') ? html`<a href="${sourceDeepLink}" rel="noopener noreferrer">${sourceApp}</a>` : sourceApp}, revision ${report.sourceRevision}</dd>
${report.status === 'partial' && html`<dt>Images</dt><dd>Some have failed to arrive</dd>`}
</dl>
${renderBody(tree, 1, imageUrls)}
</article>
</main>
</body>
</html>
`.text;
}

type ImageUrls = ReadonlyMap<string, string>;

const renderBody = ({ shortDescription, blocks }: ReportPage, level: number, urls: ImageUrls): Markup =>
  html`${Boolean(shortDescription) && html`<p class="lead">${shortDescription}</p>`}
${blocks.map((block) => renderBlock(block, level, urls))}`;

function renderBlock(block: ReportBlock, level: number, urls: ImageUrls): Markup {
  if ('childPage' in block) return renderChild(block.childPage as ReportPage, level + 1, urls);
  if ('items' in block) return renderList(block);
  if ('imageStatus' in block) return renderImage(block, urls);
  if ('level' in block) return heading(Math.min(level + block.level, 6), renderRuns(block.richText));
  return html`<p>${renderRuns(block.richText)}</p>
`;
}

const renderChild = (
  page: ReportPage,
  level: number,
  urls: ImageUrls,
): Markup => html`<section class="page" id="${page.id}">
${heading(level, html`${page.title}`)}
${renderBody(page, level, urls)}
</section>
`;

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

function renderList({ type, items }: ReportList): Markup {
  const content = items.map((item) => renderItem(item, type === 'CHECKLIST'));
  if (type === 'ORDERED_LIST') return html`<ol>${content}</ol>`;
  return type === 'CHECKLIST' ? html`<ul class="checks">${content}</ul>` : html`<ul>${content}</ul>`;
}

const renderItem = ({ depth, checked, richText }: ReportListItem, hasCheck: boolean): Markup =>
  html`<li class="depth-${depth}">${hasCheck && html`<span role="img" aria-label="${checked ? 'done' : 'open'}">${checked ? '☑' : '☐'}</span> `}${renderRuns(richText)}</li>`;

function renderImage({ attachmentId, imageFailure }: ReportImage, urls: ImageUrls): Markup {
  if (imageFailure) return html`<p class="failed">${imageFailure.message} <code>${imageFailure.code}</code></p>`;
  const url = urls.get(attachmentId!);
  if (url === undefined) return html`<p class="gone">The photo is archived.</p>`;
  return html`<figure><img src="${url}" alt="Photo" loading="lazy"></figure>`;
}

function renderRuns(runs: RichTextRun[]): Markup {
  return html`${runs.map(({ text, marks }) => {
    const italic = marks.includes('ITALIC') ? html`<em>${text}</em>` : html`${text}`;
    return marks.includes('BOLD') ? html`<strong>${italic}</strong>` : italic;
  })}`;
}

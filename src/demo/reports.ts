import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../entities/photo-report-page.entity.ts';
import { canonicalJson, createFingerprint } from '../domain/canonical-json.ts';
import type { BuilderContext } from './builder-context.ts';
import { ACTIONS, SECTION_TEXTS, TRADES } from './words.ts';

const REPORTS = 6;
const AREA = 'area';

/** Adds synced reports of site walks, each with a page of one area; none without an integrator. */
export function addReports(context: BuilderContext): void {
  const { rows, random, integratorId } = context;
  if (integratorId === null) return;
  for (let count = REPORTS; count > 0; count--) {
    const project = random.pick(context.listStartedProjects());
    const { createdAt, updatedAt } = context.pickDates(project.createdAt);
    const title = `Site walk, ${project.name}`;
    const sourceExternalId = `walk-${random.digits(8)}`;
    const items = [{ id: 'action-1', richText: [{ text: random.pick(ACTIONS) }], checked: random.chance(0.4) }];
    const childPage = createPage(`${random.pick(TRADES)}, level 2`, random.pick(SECTION_TEXTS), [
      { sourceBlockId: 'checklist', type: 'CHECKLIST', properties: { items } },
    ]);
    const source = {
      sourceApp: 'sitewalk',
      sourceExternalId,
      sourceCreatedAt: createdAt,
      walkthroughDate: createdAt,
      sourceAuthor: { externalId: `author-${random.digits(4)}`, name: context.pickName() },
      sourceDeepLink: `https://sitewalk.example.com/w/${sourceExternalId}`,
      projectId: project.id,
    };
    const page = createPage(title, random.pick(SECTION_TEXTS), [
      { sourceBlockId: AREA, type: 'PAGE', properties: {}, childPage },
    ]);
    const content = { ...source, page };
    const report = context.add(PhotoReport, 'photoReport', {
      createdAt,
      updatedAt,
      ...source,
      integratorId,
      sourceRevision: random.between(1, 4),
      status: 'synced',
      title,
      fingerprint: createFingerprint(canonicalJson(content)),
      content,
    });
    let parentId: string | null = null;
    for (const path of [[], [AREA]]) {
      const pathDigest = createFingerprint(JSON.stringify(path));
      const id = random.id('page', createdAt);
      rows.add(PhotoReportPage, { id, reportId: report.id, parentId, path, pathDigest });
      parentId = id;
    }
  }
}

/** Creates a page with a heading, a text and the blocks. */
function createPage(title: string, text: string, blocks: object[]) {
  const first = [
    { sourceBlockId: 'heading', type: 'HEADING', properties: { level: 1 }, richText: [{ text: title }] },
    { sourceBlockId: 'text', type: 'TEXT', properties: {}, richText: [{ text }] },
  ];
  return { schemaVersion: 1, title, blocks: [...first, ...blocks] };
}

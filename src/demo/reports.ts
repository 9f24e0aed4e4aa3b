import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../entities/photo-report-page.entity.ts';
import { canonicalJson, createFingerprint } from '../domain/canonical-json.ts';
import type { BuilderContext } from './builder-context.ts';
import type { Random } from './random.ts';
import { ACTIONS, SECTION_TEXTS, TRADES } from './words.ts';

const REPORTS = 6;
const AREA = 'area';

/** Adds synced reports of site walks, each with a page of one area; none without an integrator. */
export function addReports(context: BuilderContext): void {
  const { rows, random, integratorId } = context;
  if (integratorId === null) return;
  for (let count = REPORTS; count > 0; count--) {
    const project = random.pick(context.startedProjects);
    const { createdAt } = context.pickDates(context.dayAfter(project) + 5);
    const title = `Site walk, ${project.name}`;
    const sourceExternalId = `walk-${random.digits(8)}`;
    const page = createPage(random, title, createPage(random, `${random.pick(TRADES).name}, level 2`));
    const source = {
      sourceApp: 'sitewalk',
      sourceExternalId,
      sourceCreatedAt: createdAt,
      walkthroughDate: createdAt,
      sourceAuthor: { externalId: `author-${random.digits(4)}`, name: context.pickName() },
      sourceDeepLink: `https://sitewalk.example.com/w/${sourceExternalId}`,
      projectId: project.id,
    };
    const content = { ...source, page };
    const report = context.add(PhotoReport, 'photoReport', {
      createdAt,
      updatedAt: context.pickLater(createdAt, 3),
      ...source,
      integratorId,
      sourceRevision: random.between(1, 4),
      status: JSON.stringify(page).includes('"FAILED"') ? 'partial' : 'synced',
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

function createPage(random: Random, title: string, childPage?: object): object {
  const createBlock = (type: string, more: object) => ({
    sourceBlockId: type.toLowerCase(),
    type,
    properties: {},
    ...more,
  });
  const richText = (text: string) => [{ text }];
  const items = random
    .sample(ACTIONS, random.between(1, 3))
    .map((text, index) => ({ id: `action-${index + 1}`, richText: richText(text), checked: random.chance(0.4) }));
  const blocks = [
    createBlock('HEADING', { properties: { level: childPage ? 1 : 2 }, richText: richText(title) }),
    createBlock('TEXT', { richText: richText(random.pick(SECTION_TEXTS)) }),
    createBlock('CHECKLIST', { properties: { items } }),
  ];
  if (childPage) blocks.push(createBlock('PAGE', { sourceBlockId: AREA, childPage }));
  else if (random.chance(0.3)) {
    const imageFailure = { code: 'UPLOAD_FAILED', message: 'The photo could not be uploaded from the site.' };
    blocks.push(createBlock('IMAGE', { imageStatus: 'FAILED', imageFailure }));
  }
  return { schemaVersion: 1, title, blocks };
}

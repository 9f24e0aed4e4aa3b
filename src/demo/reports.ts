import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../entities/photo-report-page.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { canonicalJson, createFingerprint } from '../domain/canonical-json.ts';
import { pickLater, pickTimestamps } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import { findFirstDay, hasStarted } from './projects.ts';
import type { Random } from './random.ts';
import { pickName } from './staff.ts';
import { ACTIONS, SECTION_TEXTS, TRADES } from './words.ts';

const REPORTS = 6;
/** Source application of synced reports. */
const SOURCE_APP = 'sitewalk';
const AREA = 'area';

/** Adds synced reports of site walks; none without an integrator. */
export function addReports(context: GeneratorContext, projects: Project[], integratorId: string | null): void {
  if (integratorId === null) return;
  const random = context.random('reports');
  for (let count = REPORTS; count > 0; count--)
    addReport(context, random, random.pick(projects.filter(hasStarted)), integratorId);
}

function addReport(
  { rows, builderId }: GeneratorContext,
  random: Random,
  project: Project,
  integratorId: string,
): void {
  const { createdAt } = pickTimestamps(random, findFirstDay(project) + 5, -1);
  const title = `Site walk, ${project.name}`;
  const author = { externalId: `author-${random.digits(4)}`, name: pickName(random) };
  const sourceExternalId = `walk-${random.digits(8)}`;
  const content = {
    sourceApp: SOURCE_APP,
    sourceExternalId,
    sourceCreatedAt: createdAt,
    walkthroughDate: createdAt,
    sourceAuthor: author,
    sourceDeepLink: `https://sitewalk.example.com/w/${sourceExternalId}`,
    projectId: project.id,
    page: createPageDocument(random, title, true),
  };
  const hasFailed = JSON.stringify(content.page).includes('"FAILED"');
  const { id } = rows.add(PhotoReport, {
    id: random.id('photoReport', createdAt),
    createdAt,
    updatedAt: pickLater(random, createdAt, 3),
    builderId,
    integratorId,
    projectId: project.id,
    sourceApp: content.sourceApp,
    sourceExternalId,
    sourceRevision: random.between(1, 4),
    status: hasFailed ? 'partial' : 'synced',
    title,
    sourceCreatedAt: createdAt,
    walkthroughDate: createdAt,
    sourceAuthor: author,
    sourceDeepLink: content.sourceDeepLink,
    fingerprint: createFingerprint(canonicalJson(content)),
    content,
  });
  const root = addPage(rows, random, createdAt, { reportId: id, parentId: null, path: [] });
  addPage(rows, random, createdAt, { reportId: id, parentId: root.id, path: [AREA] });
}

type PagePosition = Pick<PhotoReportPage, 'reportId' | 'parentId' | 'path'>;

function addPage(rows: GeneratorContext['rows'], random: Random, at: string, position: PagePosition): PhotoReportPage {
  const pathDigest = createFingerprint(JSON.stringify(position.path));
  return rows.add(PhotoReportPage, { id: random.id('page', at), ...position, pathDigest });
}

function createPageDocument(random: Random, title: string, isRoot: boolean): object {
  const plain = (text: string) => [{ text }];
  const blocks: object[] = [
    { sourceBlockId: 'heading', type: 'HEADING', properties: { level: isRoot ? 1 : 2 }, richText: plain(title) },
    { sourceBlockId: 'text', type: 'TEXT', properties: {}, richText: plain(random.pick(SECTION_TEXTS)) },
    {
      sourceBlockId: 'actions',
      type: 'CHECKLIST',
      properties: {
        items: random
          .sample(ACTIONS, random.between(1, 3))
          .map((text, at) => ({ id: `action-${at + 1}`, richText: plain(text), checked: random.chance(0.4) })),
      },
    },
  ];
  if (isRoot) {
    const area = createPageDocument(random, `${random.pick(TRADES).name}, level ${random.between(1, 9)}`, false);
    blocks.push({ sourceBlockId: AREA, type: 'PAGE', properties: {}, childPage: area });
  } else if (random.chance(0.3)) {
    const imageFailure = { code: 'UPLOAD_FAILED', message: 'The photo could not be uploaded from the site.' };
    blocks.push({ sourceBlockId: 'image', type: 'IMAGE', properties: {}, imageStatus: 'FAILED', imageFailure });
  }
  return { schemaVersion: 1, title, blocks };
}

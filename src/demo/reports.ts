import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../entities/photo-report-page.entity.ts';
import { canonicalJson, createFingerprint } from '../domain/canonical-json.ts';
import type { BuilderContext } from './builder-context.ts';
import { ACTIONS, SECTION_TEXTS } from './words.ts';

const REPORTS = 6;

/** Adds synced reports of site walks; none without an integrator. */
export function addReports(context: BuilderContext): void {
  const { rows, random, integratorId } = context;
  if (integratorId === null) return;
  for (let count = REPORTS; count > 0; count--) {
    const { id: projectId, name, createdAt: begun } = random.pick(context.listStartedProjects());
    const { createdAt, updatedAt } = context.pickDates(begun);
    const title = `Site walk, ${name}`;
    const sourceExternalId = `walk-${random.digits(8)}`;
    const [text, action] = [random.pick(SECTION_TEXTS), random.pick(ACTIONS)];
    const items = [{ id: 'action-1', richText: [{ text: action }], checked: random.chance(0.4) }];
    const blocks = [
      { sourceBlockId: 'heading', type: 'HEADING', properties: { level: 1 }, richText: [{ text: title }] },
      { sourceBlockId: 'text', type: 'TEXT', properties: {}, richText: [{ text }] },
      { sourceBlockId: 'checklist', type: 'CHECKLIST', properties: { items } },
    ];
    const source = {
      sourceApp: 'sitewalk',
      sourceExternalId,
      sourceCreatedAt: createdAt,
      walkthroughDate: createdAt,
      sourceAuthor: { externalId: `author-${random.digits(4)}`, name: context.pickName() },
      sourceDeepLink: `https://sitewalk.example.com/w/${sourceExternalId}`,
      projectId,
    };
    const content = { ...source, page: { schemaVersion: 1, title, blocks } };
    const fingerprint = createFingerprint(canonicalJson(content));
    const values = { createdAt, updatedAt, ...source, integratorId, title, fingerprint, content };
    const { id } = context.add(PhotoReport, 'photoReport', { ...values, sourceRevision: 1, status: 'synced' });
    const root = { id: random.id('page', createdAt), reportId: id, parentId: null };
    rows.add(PhotoReportPage, { ...root, path: [], pathDigest: createFingerprint('[]') });
  }
}

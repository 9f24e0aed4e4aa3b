import { Insurance } from '../../entities/insurance.entity.ts';
import { Prequalification } from '../../entities/prequalification.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import type { BuilderContext } from './builder-context.ts';
import { iso } from './local-calendar.ts';
import { REVIEW_COMMENTS } from './words.ts';

const REVIEWS = ['REVIEWED', 'REVIEWED', 'REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED'] as const;
const COVERS = {
  PUBLIC_LIABILITY: 'Public liability certificate of currency',
  WORK_COVER: 'Workers compensation certificate of currency',
  OTHER: 'Contract works',
};

/** Adds the safe work method statements, prequalifications and insurances of every company. */
export function addDocuments(context: BuilderContext): void {
  const { random, calendar } = context;
  const pickUrl = () => (random.chance(0.95) ? `https://files.example.com/${random.digits(10)}.pdf` : null);
  for (const { row, projects, swms, coverDays } of context.companies) {
    const createDocument = () => ({ ...context.pickDates(context.dayAfter(row)), subcontractorId: row.id });
    for (const name of random.sample(swms, random.between(row.isBuilder ? 2 : 0, 3))) {
      const projectId = random.chance(0.7) ? random.pick(projects).id : null;
      const values = { projectId, name, status: random.pick(REVIEWS), url: pickUrl() };
      context.add(SwmsDocument, 'swms', { ...createDocument(), ...values });
    }
    for (let count = row.isBuilder ? 0 : random.between(0, 2); count > 0; count--) {
      const status = random.pick(['APPROVED', 'APPROVED', 'REJECTED', 'WAITING_REVIEW', 'SENT'] as const);
      const reviewComments = status === 'APPROVED' || status === 'REJECTED' ? random.pick(REVIEW_COMMENTS) : null;
      context.add(Prequalification, 'prequalification', { ...createDocument(), status, reviewComments });
    }
    for (const [type, name] of Object.entries(COVERS).slice(0, random.between(2, 3))) {
      const days = type === 'PUBLIC_LIABILITY' ? coverDays : random.between(coverDays, coverDays + 90);
      context.add(Insurance, 'insurance', {
        ...createDocument(),
        name,
        type: type as Insurance['type'],
        customType: type === 'OTHER' ? name : null,
        status: days < 0 ? 'EXPIRED' : random.pick(REVIEWS),
        expiry: iso(calendar.dateOf(days)),
        url: pickUrl(),
      });
    }
  }
}

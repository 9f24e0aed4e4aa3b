import { Insurance } from '../../entities/insurance.entity.ts';
import { Prequalification } from '../../entities/prequalification.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import type { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import type { BuilderContext } from './builder-context.ts';
import { iso } from './local-calendar.ts';
import { REVIEW_COMMENTS, SWMS } from './words.ts';

export const REVIEWS = ['REVIEWED', 'REVIEWED', 'REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED'] as const;
const COVERS = {
  PUBLIC_LIABILITY: 'Public liability certificate of currency',
  WORK_COVER: 'Workers compensation certificate of currency',
  OTHER: 'Contract works',
};

/** Adds the safe work method statements, prequalifications and insurances of a company. */
export function addDocuments(context: BuilderContext, company: Subcontractor, projects: Project[], coverDays: number) {
  const { random, calendar } = context;
  const pickUrl = () => (random.chance(0.95) ? `https://files.example.com/${random.digits(10)}.pdf` : null);
  for (const name of random.sample(SWMS, random.between(1, 2))) {
    const projectId = random.chance(0.7) ? random.pick(projects).id : null;
    context.addOf(company, SwmsDocument, 'swms', { projectId, name, status: random.pick(REVIEWS), url: pickUrl() });
  }
  for (let count = random.between(0, 2); count > 0; count--) {
    const status = random.pick(['APPROVED', 'APPROVED', 'REJECTED', 'WAITING_REVIEW', 'SENT'] as const);
    const reviewComments = /ED$/.test(status) ? random.pick(REVIEW_COMMENTS) : null;
    context.addOf(company, Prequalification, 'prequalification', { status, reviewComments });
  }
  for (const [type, name] of Object.entries(COVERS).slice(0, random.between(2, 3))) {
    const days = type === 'PUBLIC_LIABILITY' ? coverDays : random.between(coverDays, coverDays + 90);
    context.addOf(company, Insurance, 'insurance', {
      name,
      type: type as Insurance['type'],
      customType: type === 'OTHER' ? name : null,
      status: days < 0 ? 'EXPIRED' : random.pick(REVIEWS),
      expiry: iso(calendar.dateOf(days)),
      url: pickUrl(),
    });
  }
}

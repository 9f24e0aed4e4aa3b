import { Contact } from '../../entities/contact.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import type { SubcontractorStatus } from '../../schema/enums.ts';
import { FOUNDING, toEmail } from './accounts.ts';
import { type BuilderContext, HISTORY_DAYS } from './builder-context.ts';
import { addDocuments } from './documents.ts';
import { COMPANIES, STREETS, TAGS, TRADES } from './words.ts';

const SUBCONTRACTORS = COMPANIES.length * TRADES.length;
const DAYS_APART = 8;
const ARCHIVED_EVERY = 14;
const STEPS: SubcontractorStatus[] = [
  'INVITED',
  'ACCEPTED',
  'SWMS_UPLOADED',
  'SWMS_APPROVED',
  'INSURANCE_UPLOADED',
  'PREQUALIFIED',
];

/** Adds the builder's own company, then its subcontractors, with their contacts and documents. */
export function addCompanies(context: BuilderContext): void {
  const { random, builder, rows } = context;
  const projects = rows.of(Project);
  addCompany(context, { ...FOUNDING, name: builder.name, isBuilder: true, tags: ['internal'] }, projects, 200);
  for (let index = 0; index < SUBCONTRACTORS; index++) {
    const dates = context.pickDates(context.ago(HISTORY_DAYS - DAYS_APART * index), 40);
    const values = {
      ...dates,
      name: `${COMPANIES[Math.floor(index / TRADES.length)]} ${TRADES[index % TRADES.length]}`,
      isBuilder: false,
      tags: random.sample(TAGS, random.between(0, 3)),
      archivedAt: index % ARCHIVED_EVERY === ARCHIVED_EVERY - 1 ? context.pickLater(dates.updatedAt, 200) : null,
    };
    // Some end within a week, as the console shows.
    const coverDays = index % 12 === 0 ? random.between(2, 6) : random.between(-60, 364);
    addCompany(context, values, random.sample(projects, random.between(1, 5)), coverDays);
  }
}

/**
 * Adds a company with its statuses on its projects, its contacts, of which the first is the primary one, and its documents.
 *
 * @param coverDays days until the end of its public liability insurance; negative when it has expired
 */
function addCompany(context: BuilderContext, values: Partial<Subcontractor>, projects: Project[], coverDays: number) {
  const { rows, random, locale } = context;
  const { country, companyEnding } = locale;
  const [suburb, state, postcode] = random.pick(locale.places).split(', ') as [string, string, string];
  const company = context.add(Subcontractor, 'subcontractor', {
    ...values,
    name: `${values.name} ${companyEnding}`,
    abn: country === 'Australia' ? random.digits(11) : null,
    address: { street: `${random.between(1, 240)} ${random.pick(STREETS)}`, suburb, state, postcode, country },
    integrations: random.chance(0.5) ? [{ type: 'xero', sourceId: random.digits(8), companyId: random.digits(5) }] : [],
  });
  const { id: subcontractorId, isBuilder } = company;
  for (const { id: projectId } of projects) {
    const steps = isBuilder ? STEPS : STEPS.slice(0, random.between(1, STEPS.length));
    const statuses = coverDays < 0 ? [...steps, 'INSURANCE_EXPIRED' as const] : steps;
    rows.add(SubcontractorProject, { subcontractorId, projectId, statuses });
  }
  for (let index = 0, count = random.between(1, 3); index < count; index++) {
    const name = context.pickName();
    context.addOf(company, Contact, 'contact', {
      name,
      email: random.chance(0.9) ? toEmail(name, company.name) : null,
      phone: random.chance(0.9) ? context.pickPhone() : null,
      isPrimary: index === 0,
      type: isBuilder ? 'BUILDER' : 'SUBCONTRACTOR',
      projectIds: random.sample(projects, random.between(0, 3)).map(({ id }) => id),
    });
  }
  addDocuments(context, company, projects, coverDays);
}

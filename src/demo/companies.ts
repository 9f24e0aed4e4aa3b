import { Contact } from '../../entities/contact.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import type { SubcontractorStatus } from '../../schema/enums.ts';
import { FOUNDING, toEmail } from './accounts.ts';
import { type BuilderContext, type Company, HISTORY_DAYS } from './builder-context.ts';
import type { Random } from './random.ts';
import { COMPANIES, COMPANY_SWMS, STREETS, TRADES } from './words.ts';

const SUBCONTRACTORS = 72;
const ARCHIVED_EVERY = 14;
const STEPS: SubcontractorStatus[] = [
  'INVITED',
  'ACCEPTED',
  'SWMS_UPLOADED',
  'SWMS_APPROVED',
  'INSURANCE_UPLOADED',
  'PREQUALIFIED',
];

/** Adds the builder's own company, then its subcontractors, with their contacts. */
export function addCompanies(context: BuilderContext): void {
  const { random, locale, builder, projects } = context;
  const ownName = `${builder.name} ${locale.companyEnding}`;
  const own = addRow(context, { ...FOUNDING, name: ownName, isBuilder: true, tags: ['internal'], integrations: [] });
  addCompany(context, { row: own, projects, swms: COMPANY_SWMS, coverDays: 200 });
  for (let index = 0; index < SUBCONTRACTORS; index++) {
    const trade = TRADES[index % TRADES.length]!;
    const name = COMPANIES[Math.floor(index / TRADES.length)]!;
    const dates = context.pickDates(index * 9 - HISTORY_DAYS, index * 9 - HISTORY_DAYS + 40);
    const platforms = random.sample(['xero', 'myob', 'procore'], random.between(0, 2));
    const row = addRow(context, {
      ...dates,
      name: `${name} ${trade.name} ${locale.companyEnding}`,
      isBuilder: false,
      tags: random.sample([...trade.tags, 'preferred', 'local'], random.between(0, 3)),
      integrations: platforms.map((type) => ({ type, sourceId: random.digits(8), companyId: random.digits(5) })),
      archivedAt: index % ARCHIVED_EVERY === ARCHIVED_EVERY - 1 ? context.pickLater(dates.updatedAt, 200) : null,
    });
    // Some end within a week, as the console shows.
    const coverDays = index % 12 === 0 ? random.between(2, 6) : random.between(-60, 364);
    addCompany(context, { row, projects: random.sample(projects, random.between(1, 5)), swms: trade.swms, coverDays });
  }
}

function addRow(context: BuilderContext, values: Partial<Subcontractor>): Subcontractor {
  const { locale, random } = context;
  const [suburb, state, postcode] = random.pick(locale.places).split(', ') as [string, string, string];
  const street = `${random.between(1, 240)} ${random.pick(STREETS)}`;
  const address = { street, suburb, state, postcode, country: locale.country };
  const abn = locale.country === 'Australia' ? createBusinessNumber(random) : null;
  return context.add(Subcontractor, 'subcontractor', { abn, address, ...values });
}

const ABN_WEIGHTS = [3, 5, 7, 9, 11, 13, 15, 17, 19];

/** An ABN is nine digits after two check digits that make the weighted sum a multiple of 89. */
function createBusinessNumber(random: Random): string {
  const digits = random.digits(ABN_WEIGHTS.length);
  const sum = ABN_WEIGHTS.reduce((total, weight, index) => total + weight * Number(digits[index]), 0);
  return `${10 + ((89 - (sum % 89)) % 89)}${digits}`;
}

/** Adds the statuses of a company on its projects, and its contacts, of which the first is the primary one. */
function addCompany(context: BuilderContext, company: Company): void {
  const { rows, random } = context;
  const { row, projects, coverDays } = company;
  context.companies.push(company);
  for (const { id } of projects) {
    const statuses = row.isBuilder ? STEPS : STEPS.slice(0, random.between(1, STEPS.length));
    const isExpired = coverDays < 0 && statuses.includes('INSURANCE_UPLOADED');
    const all = isExpired ? [...statuses, 'INSURANCE_EXPIRED' as const] : statuses;
    rows.add(SubcontractorProject, { subcontractorId: row.id, projectId: id, statuses: all });
  }
  for (let index = 0, count = random.between(1, 3); index < count; index++) {
    const from = context.dayAfter(row);
    const name = context.pickName();
    context.add(Contact, 'contact', {
      ...context.pickDates(from, from + 90),
      subcontractorId: row.id,
      name,
      email: random.chance(0.92) ? toEmail(name, row.name) : null,
      phone: random.chance(0.9) ? context.pickPhone() : null,
      isPrimary: index === 0,
      type: row.isBuilder ? 'BUILDER' : 'SUBCONTRACTOR',
      projectIds: random.sample(projects, random.between(0, 3)).map(({ id }) => id),
    });
  }
}

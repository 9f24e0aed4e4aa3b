import { Contact } from '../../entities/contact.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import type { SubcontractorStatus } from '../../schema/enums.ts';
import { HISTORY_DAYS, pickLater, pickTimestamps, toBaseDay } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import { findFirstDay } from './projects.ts';
import type { Random } from './random.ts';
import { pickName, pickPhone, toEmail } from './staff.ts';
import { COMPANY_SWMS, TRADES } from './words.ts';

const SUBCONTRACTORS = 72;
const ARCHIVED_EVERY = 14;

/** A company of a builder, with the values that other generators use. */
export interface Company {
  row: Subcontractor;
  projects: Project[];
  /** Names of safe work method statements that it may submit. */
  swms: string[];
  /** Days from `asOf` to the end of its public liability insurance; negative when it has expired. */
  coverDays: number;
}

/** Adds the builder's own company, then its subcontractors. */
export function addCompanies(context: GeneratorContext, projects: Project[], builderName: string): Company[] {
  const random = context.random('companies');
  const names = new Set<string>();
  const own = addOwnCompany(context, random, projects, builderName);
  const others = Array.from({ length: SUBCONTRACTORS }, (_, index) => {
    return addSubcontractor(context, random, { index, projects, names });
  });
  return [own, ...others];
}

function addOwnCompany(context: GeneratorContext, random: Random, projects: Project[], builderName: string): Company {
  const createdAt = toBaseDay(-HISTORY_DAYS);
  const row = context.rows.add(Subcontractor, {
    id: random.id('subcontractor', createdAt),
    createdAt,
    updatedAt: createdAt,
    ...contactDetails(context, random),
    builderId: context.builderId,
    name: context.locale.hasAbn ? `${builderName} Pty Ltd` : `${builderName} LLC`,
    isBuilder: true,
    tags: ['internal'],
    integrations: [],
    archivedAt: null,
  });
  const company = { row, projects, swms: COMPANY_SWMS, coverDays: 200 };
  for (const project of projects)
    addProjectStatuses(context, company, project, ['ACCEPTED', 'SWMS_APPROVED', 'INSURANCE_UPLOADED']);
  return company;
}

interface Options {
  index: number;
  projects: Project[];
  /** Names already in use. */
  names: Set<string>;
}

function addSubcontractor(context: GeneratorContext, random: Random, { index, projects, names }: Options): Company {
  const { locale, rows, builderId } = context;
  const trade = TRADES[index % TRADES.length]!;
  const dates = pickTimestamps(random, index * 9 - HISTORY_DAYS, index * 9 - HISTORY_DAYS + 40);
  const types = random.sample(locale.companyPlatforms, random.between(0, 2));
  const row = rows.add(Subcontractor, {
    id: random.id('subcontractor', dates.createdAt),
    ...dates,
    ...contactDetails(context, random),
    builderId,
    name: freeName(names, () => `${random.pick(locale.companies)} ${trade.name} ${random.pick(locale.companyEndings)}`),
    isBuilder: false,
    tags: random.sample([...trade.tags, 'preferred', 'local'], random.between(0, 3)),
    integrations: types.map((type) => ({ type, sourceId: random.digits(8), companyId: random.digits(5) })),
    archivedAt: index % ARCHIVED_EVERY === ARCHIVED_EVERY - 1 ? pickLater(random, dates.updatedAt, 200) : null,
  });
  const company = {
    row,
    projects: random.sample(projects, random.between(1, 5)),
    swms: trade.swms,
    // Some end within a week, as the console shows.
    coverDays: index % 12 === 0 ? random.between(2, 6) : random.between(-60, 364),
  };
  for (const project of company.projects) addProjectStatuses(context, company, project, pickStatuses(random, company));
  return company;
}

function freeName(usedNames: Set<string>, make: () => string): string {
  let name = make();
  while (usedNames.has(name)) name = make();
  usedNames.add(name);
  return name;
}

function contactDetails({ locale }: GeneratorContext, random: Random) {
  const [suburb, state, postcode] = random.pick(locale.places);
  const street = `${random.between(1, 240)} ${random.pick(locale.streets)}`;
  return {
    abn: locale.hasAbn ? australianBusinessNumber(random) : null,
    address: { street, suburb, state, postcode, country: locale.country },
  };
}

const ABN_WEIGHTS = [3, 5, 7, 9, 11, 13, 15, 17, 19];

/** An ABN is nine digits after two check digits that make the weighted sum a multiple of 89. */
function australianBusinessNumber(random: Random): string {
  const digits = random.digits(ABN_WEIGHTS.length);
  const sum = ABN_WEIGHTS.reduce((total, weight, index) => total + weight * Number(digits[index]), 0);
  return `${10 + ((89 - (sum % 89)) % 89)}${digits}`;
}

/** Picks its statuses on a project: consecutive steps, and expired insurance. */
function pickStatuses(random: Random, { coverDays }: Company): SubcontractorStatus[] {
  const steps: SubcontractorStatus[] = [
    'INVITED',
    'ACCEPTED',
    'SWMS_UPLOADED',
    'SWMS_APPROVED',
    'INSURANCE_UPLOADED',
    'PREQUALIFIED',
  ];
  const reachedSteps = steps.slice(0, random.between(1, steps.length));
  return coverDays < 0 && reachedSteps.includes('INSURANCE_UPLOADED')
    ? [...reachedSteps, 'INSURANCE_EXPIRED']
    : reachedSteps;
}

function addProjectStatuses(
  { rows }: GeneratorContext,
  { row }: Company,
  project: Project,
  statuses: SubcontractorStatus[],
): void {
  rows.add(SubcontractorProject, { subcontractorId: row.id, projectId: project.id, statuses });
}

/** Adds contacts of each company; the first is the primary contact. */
export function addContacts(context: GeneratorContext, companies: Company[]): void {
  const random = context.random('contacts');
  for (const { row, projects } of companies) {
    const domain = row.isBuilder ? context.domain : `${row.name.toLowerCase().replace(/[^a-z]+/g, '')}.example`;
    for (let index = 0, count = random.between(1, 3); index < count; index++) {
      const from = findFirstDay(row);
      const dates = pickTimestamps(random, from, from + 90);
      const name = pickName(random);
      context.rows.add(Contact, {
        id: random.id('contact', dates.createdAt),
        ...dates,
        builderId: context.builderId,
        subcontractorId: row.id,
        name,
        email: random.chance(0.92) ? toEmail(name, domain) : null,
        phone: random.chance(0.9) ? pickPhone(random, context.locale) : null,
        isPrimary: index === 0,
        type: row.isBuilder ? 'BUILDER' : 'SUBCONTRACTOR',
        projectIds: random.sample(projects, random.between(0, 3)).map(({ id }) => id),
      });
    }
  }
}

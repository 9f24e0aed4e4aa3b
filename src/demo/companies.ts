import { Contact } from '../../entities/contact.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import type { SubcontractorStatus } from '../../schema/enums.ts';
import { baseDay, later, STORY_DAYS, stamps } from './dates.ts';
import { emailOf, nameOf, phoneOf } from './people.ts';
import { firstDayOf } from './projects.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';
import { COMPANY_SWMS, TRADES } from './words/trades.ts';

const SUBCONTRACTORS = 72;
const ARCHIVED_EVERY = 14;

/** A company on a builder's books, with what the other parts need to know of it. */
export interface Company {
  row: Subcontractor;
  projects: Project[];
  /** Names of work method statements that it may hand in. */
  swms: string[];
  /** Days from the load to the end of its public liability cover; negative when it has ended. */
  coverDays: number;
}

/** The builder's own company first, then its subcontractors. */
export function addCompanies(scene: Scene, projects: Project[], builderName: string): Company[] {
  const random = scene.random('companies');
  const names = new Set<string>();
  const own = addOwnCompany(scene, random, projects, builderName);
  const others = Array.from({ length: SUBCONTRACTORS }, (_, index) => {
    return addSubcontractor(scene, random, { index, projects, names });
  });
  return [own, ...others];
}

function addOwnCompany(scene: Scene, random: Random, projects: Project[], builderName: string): Company {
  const createdAt = baseDay(-STORY_DAYS);
  const row = scene.rows.add(Subcontractor, {
    id: random.id('subcontractor', createdAt),
    createdAt,
    updatedAt: createdAt,
    ...contactDetails(scene, random),
    builderId: scene.builderId,
    name: scene.locale.hasAbn ? `${builderName} Pty Ltd` : `${builderName} LLC`,
    isBuilder: true,
    tags: ['internal'],
    integrations: [],
    archivedAt: null,
  });
  const company = { row, projects, swms: COMPANY_SWMS, coverDays: 200 };
  for (const project of projects)
    addPlace(scene, company, project, ['ACCEPTED', 'SWMS_APPROVED', 'INSURANCE_UPLOADED']);
  return company;
}

interface Choice {
  index: number;
  projects: Project[];
  /** Names that are taken. */
  names: Set<string>;
}

function addSubcontractor(scene: Scene, random: Random, { index, projects, names }: Choice): Company {
  const { locale, rows, builderId } = scene;
  const trade = TRADES[index % TRADES.length]!;
  const dates = stamps(random, index * 9 - STORY_DAYS, index * 9 - STORY_DAYS + 40);
  const types = random.some(locale.companyPlatforms, random.between(0, 2));
  const row = rows.add(Subcontractor, {
    id: random.id('subcontractor', dates.createdAt),
    ...dates,
    ...contactDetails(scene, random),
    builderId,
    name: freeName(names, () => `${random.pick(locale.companies)} ${trade.name} ${random.pick(locale.companyEndings)}`),
    isBuilder: false,
    tags: random.some([...trade.tags, 'preferred', 'local'], random.between(0, 3)),
    integrations: types.map((type) => ({ type, sourceId: random.digits(8), companyId: random.digits(5) })),
    archivedAt: index % ARCHIVED_EVERY === ARCHIVED_EVERY - 1 ? later(random, dates.updatedAt, 200) : null,
  });
  const company = {
    row,
    projects: random.some(projects, random.between(1, 5)),
    swms: trade.swms,
    coverDays: random.between(-60, 364),
  };
  for (const project of company.projects) addPlace(scene, company, project, reached(random, company));
  return company;
}

function freeName(taken: Set<string>, make: () => string): string {
  let name = make();
  while (taken.has(name)) name = make();
  taken.add(name);
  return name;
}

function contactDetails({ locale }: Scene, random: Random) {
  const [suburb, state, postcode] = random.pick(locale.places);
  const street = `${random.between(1, 240)} ${random.pick(locale.streets)}`;
  return {
    abn: locale.hasAbn ? australianBusinessNumber(random) : null,
    address: { street, suburb, state, postcode, country: locale.country },
  };
}

const ABN_WEIGHTS = [3, 5, 7, 9, 11, 13, 15, 17, 19];

/** Nine digits behind the two that make its weighted sum a multiple of 89. */
function australianBusinessNumber(random: Random): string {
  const digits = random.digits(ABN_WEIGHTS.length);
  const sum = ABN_WEIGHTS.reduce((total, weight, index) => total + weight * Number(digits[index]), 0);
  return `${10 + ((89 - (sum % 89)) % 89)}${digits}`;
}

/** How far it has come on a project: the steps are taken in order, and cover may end at any time. */
function reached(random: Random, { coverDays }: Company): SubcontractorStatus[] {
  const steps: SubcontractorStatus[] = [
    'INVITED',
    'ACCEPTED',
    'SWMS_UPLOADED',
    'SWMS_APPROVED',
    'INSURANCE_UPLOADED',
    'PREQUALIFIED',
  ];
  const taken = steps.slice(0, random.between(1, steps.length));
  return coverDays < 0 && taken.includes('INSURANCE_UPLOADED') ? [...taken, 'INSURANCE_EXPIRED'] : taken;
}

function addPlace({ rows }: Scene, { row }: Company, project: Project, statuses: SubcontractorStatus[]): void {
  rows.add(SubcontractorProject, { subcontractorId: row.id, projectId: project.id, statuses });
}

/** The people to speak to in each company; the first is the one to ask first. */
export function addContacts(scene: Scene, companies: Company[]): void {
  const random = scene.random('contacts');
  for (const { row, projects } of companies) {
    const domain = row.isBuilder ? scene.domain : `${row.name.toLowerCase().replace(/[^a-z]+/g, '')}.example`;
    for (let index = 0, count = random.between(1, 3); index < count; index++) {
      const from = firstDayOf(row);
      const dates = stamps(random, from, from + 90);
      const name = nameOf(random);
      scene.rows.add(Contact, {
        id: random.id('contact', dates.createdAt),
        ...dates,
        builderId: scene.builderId,
        subcontractorId: row.id,
        name,
        email: random.chance(0.92) ? emailOf(name, domain) : null,
        phone: random.chance(0.9) ? phoneOf(random, scene.locale) : null,
        isPrimary: index === 0,
        type: row.isBuilder ? 'BUILDER' : 'SUBCONTRACTOR',
        projectIds: random.some(projects, random.between(0, 3)).map(({ id }) => id),
      });
    }
  }
}

import { Contact } from '../../../entities/contact.entity.ts';
import { Induction } from '../../../entities/induction.entity.ts';
import { Insurance } from '../../../entities/insurance.entity.ts';
import { Prequalification } from '../../../entities/prequalification.entity.ts';
import { SiteAccess } from '../../../entities/site-access.entity.ts';
import { Subcontractor } from '../../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../../entities/subcontractor-project.entity.ts';
import { SwmsDocument } from '../../../entities/swms-document.entity.ts';
import { Worker } from '../../../entities/worker.entity.ts';
import type { SubcontractorStatus } from '../../../schema/enums.ts';
import { type CompanyContext, created, cycle, instant } from './company-context.ts';
import { hasStarted } from './projects.ts';

/** More than a page. */
const SUBCONTRACTORS = 30;
/** Workers of the builder's own company, by their access to the first project. */
export const GATE_WORKERS = { active: 12, revoked: 3, none: 3 };

const STEPS: SubcontractorStatus[] = ['INVITED', 'ACCEPTED', 'SWMS_UPLOADED', 'SWMS_APPROVED', 'INSURANCE_UPLOADED'];
const REVIEWS = ['REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED'] as const;
const PREQUALIFICATIONS = ['APPROVED', 'REJECTED', 'WAITING_REVIEW', 'SENT'] as const;

/** Adds the builder's own company, then subcontractors, of which every tenth is archived. */
export function addSubcontractors(context: CompanyContext): void {
  for (let index = 0; index <= SUBCONTRACTORS; index++) {
    const row = addSubcontractor(context, index);
    const projects = row.isBuilder ? context.projects : [0, 1].map((step) => cycle(context.projects, index + step));
    for (const { id: projectId } of projects) {
      const statuses = row.isBuilder ? STEPS : STEPS.slice(0, 1 + (index % STEPS.length));
      context.rows.add(SubcontractorProject, { subcontractorId: row.id, projectId, statuses });
    }
    addContacts(context, row, index);
    addDocuments(context, row, index);
    if (row.isBuilder) addGateWorkers(context, row);
    else addWorkers(context, row, index);
  }
}

function addSubcontractor(context: CompanyContext, index: number): Subcontractor {
  const { rows, builderId, region } = context;
  const isBuilder = index === 0;
  return rows.add(Subcontractor, {
    ...{ id: context.id('subcontractor'), ...created(index * 9 - 590), builderId, isBuilder },
    name: isBuilder ? 'Fixture builder' : `Fixture subcontractor ${index}`,
    abn: region === 'au1' ? '51824753556' : null,
    address: { street: `${index + 1} Pier St`, suburb: 'Perth', state: 'WA', postcode: '6000', country: 'Australia' },
    tags: isBuilder ? ['internal'] : cycle([[], ['preferred'], ['preferred', 'local']], index),
    integrations: index % 3 === 0 ? [{ type: 'xero', sourceId: `s${index}`, companyId: 'c1' }] : [],
    archivedAt: index % 10 === 9 ? instant(-100) : null,
  });
}

function addContacts(context: CompanyContext, { id: subcontractorId, isBuilder }: Subcontractor, index: number): void {
  for (let count = 0; count <= index % 2; count++) {
    context.rows.add(Contact, {
      ...{ id: context.id('contact'), ...created(index - 300), builderId: context.builderId, subcontractorId },
      ...{ name: `Contact ${index}`, email: index % 5 === 1 ? null : `contact${index}@example.com` },
      ...{ phone: index % 5 === 2 ? null : '+61 8 5550 1234', isPrimary: count === 0 },
      type: isBuilder ? 'BUILDER' : 'SUBCONTRACTOR',
      projectIds: index % 3 === 0 ? [] : [context.projects[0]!.id],
    });
  }
}

function addDocuments(context: CompanyContext, { id: subcontractorId, isBuilder }: Subcontractor, index: number): void {
  const { rows, builderId, projects } = context;
  const owner = { builderId, subcontractorId };
  const url = (kind: string) => (index % 10 === 7 ? null : `https://files.example.com/${kind}/${index}.pdf`);
  for (let count = 0; count < 2; count++) {
    rows.add(SwmsDocument, {
      ...{ id: context.id('swms'), ...created(index - 200), ...owner, name: `Method statement ${count + 1}` },
      projectId: count === 0 ? cycle(projects, index).id : null,
      ...{ status: cycle(REVIEWS, index + count), url: url('swms'), documentKey: null },
    });
  }
  if (!isBuilder) {
    const status = cycle(PREQUALIFICATIONS, index);
    const reviewComments = status === 'REJECTED' ? 'The references are missing.' : null;
    rows.add(Prequalification, {
      ...{ id: context.id('prequalification'), ...created(index - 190), ...owner, status, reviewComments },
    });
  }
  // From 60 days before the base to 60 days after it; one in four without an end.
  const days = [index * 4 - 60, index % 4 === 0 ? null : 60 - index * 4];
  for (const [at, day] of days.entries()) {
    rows.add(Insurance, {
      ...{ id: context.id('insurance'), ...created(index - 180), ...owner, name: `Policy ${at + 1}` },
      ...(at === 0 ? { type: 'PUBLIC_LIABILITY', customType: null } : { type: 'OTHER', customType: 'Plant' }),
      status: day !== null && day < 0 ? 'EXPIRED' : cycle(REVIEWS, index),
      ...{ expiry: day === null ? null : instant(day), url: url('insurances'), documentKey: null },
    });
  }
}

function addGateWorkers(context: CompanyContext, company: Subcontractor): void {
  const [first] = context.projects;
  for (const [access, count] of Object.entries(GATE_WORKERS)) {
    for (let index = 0; index < count; index++) {
      const worker = addWorker(context, company, index);
      if (access !== 'none') addAccess(context, worker, first!.id, access === 'revoked');
    }
  }
}

function addWorkers(context: CompanyContext, company: Subcontractor, index: number): void {
  const started = context.projects.filter(hasStarted);
  for (let count = 0; count < 2; count++) {
    const worker = addWorker(context, company, index);
    for (const step of [1, 2]) addAccess(context, worker, cycle(started, index + step).id, index % 12 === 11);
  }
}

function addWorker(context: CompanyContext, { id: subcontractorId }: Subcontractor, index: number): Worker {
  const id = context.id('worker');
  const fullName = `Worker ${id.slice(-4)}`;
  return context.rows.add(Worker, {
    ...{ id, ...created(index - 170), builderId: context.builderId, subcontractorId, fullName },
  });
}

/** Adds an access with the induction that it needs. */
function addAccess(
  context: CompanyContext,
  { id: workerId, subcontractorId, fullName }: Worker,
  projectId: string,
  isRevoked: boolean,
) {
  const { rows, builderId } = context;
  const identifier = 1 + rows.of(Induction).filter((other) => other.projectId === projectId).length;
  const revokedAt = isRevoked ? instant(-50) : null;
  rows.add(SiteAccess, { builderId, workerId, projectId, grantedAt: instant(-150), revokedAt });
  rows.add(Induction, {
    ...{ id: context.id('induction'), ...created(identifier - 140, identifier - 139) },
    ...{ builderId, projectId, workerId, subcontractorId, identifier },
    type: identifier % 5 === 0 ? 'COMPANY_INDUCTION' : 'PROJECT_INDUCTION',
    status: cycle(REVIEWS, identifier),
    data: [
      { name: 'Emergency contact', type: 'text', value: fullName },
      { name: 'High-risk work licence', type: 'text', value: null },
    ],
  });
}

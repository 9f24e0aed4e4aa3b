import type { EntityClass } from '@mikro-orm/core';
import { Builder } from '../../entities/builder.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Contact } from '../../entities/contact.entity.ts';
import { Induction } from '../../entities/induction.entity.ts';
import { Insurance } from '../../entities/insurance.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Prequalification } from '../../entities/prequalification.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import type { Database } from '../../src/database/database.ts';

const DAY = 86_400_000;
const FIRST_DAY = Date.parse('2026-03-01T00:00:00.000Z');

/** Returns midnight (UTC) of a day, counted from 1 March 2026. */
export const fixtureDay = (number: number) => new Date(FIRST_DAY + number * DAY).toISOString();

const timestampsOf = (number: number) => ({ createdAt: fixtureDay(number), updatedAt: fixtureDay(number) });

const client = (id: string, integratorId: string | null) => ({
  id,
  ...timestampsOf(0),
  integratorId,
  name: id,
  type: 'CONFIDENTIAL',
  internal: integratorId === null,
  grants: ['client_credentials'],
  scopes: [...SCOPES],
  redirectUris: [],
  origins: [],
  pilotAgreement: null,
  disabledAt: null,
});

const builder = (id: string) => ({ id, ...timestampsOf(0), name: `Builder ${id}`, logoKey: null });

const project = (id: string, builderId: string, at: number) => ({
  id,
  ...timestampsOf(at),
  builderId,
  status: 'IN_PROGRESS',
  name: `Site ${id}`,
  integrations: [],
});

const subcontractor = (id: string, builderId: string, at: number, more: object = {}) => ({
  id,
  ...timestampsOf(at),
  builderId,
  name: `Company ${id}`,
  abn: null,
  isBuilder: false,
  address: {},
  tags: [],
  integrations: [],
  archivedAt: null,
  ...more,
});

const swms = (
  id: string,
  subcontractorId: string,
  at: number,
  projectId: string | null,
  url: string | null = null,
) => ({
  id,
  ...timestampsOf(at),
  builderId: 'buil_a',
  subcontractorId,
  projectId,
  name: `Method ${id}`,
  status: 'WAITING_REVIEW',
  url,
  documentKey: null,
});

const insurance = (id: string, subcontractorId: string, at: number, more: object) => ({
  id,
  ...timestampsOf(at),
  builderId: 'buil_a',
  subcontractorId,
  name: `Policy ${id}`,
  type: 'PUBLIC_LIABILITY',
  customType: null,
  status: 'REVIEWED',
  expiry: null,
  url: null,
  documentKey: null,
  ...more,
});

const contact = (id: string, at: number, more: object) => ({
  id,
  ...timestampsOf(at),
  builderId: 'buil_a',
  subcontractorId: 'sub_a1',
  name: `Person ${id}`,
  email: null,
  phone: null,
  isPrimary: false,
  type: 'SUBCONTRACTOR',
  projectIds: [],
  ...more,
});

const induction = (id: string, at: number, identifier: number, more: object = {}) => ({
  id,
  ...timestampsOf(at),
  builderId: 'buil_a',
  projectId: 'proj_a1',
  workerId: 'wkr_a1',
  subcontractorId: 'sub_a1',
  identifier,
  type: 'PROJECT_INDUCTION',
  status: 'REVIEWED',
  data: [],
  ...more,
});

/**
 * Inserts the builders `buil_a`, connected with every scope, `buil_narrow` with `read:subcontractors` alone, and `buil_b`, not connected.
 * Of `buil_a`, `sub_a1` is on two projects and has documents of every kind, `sub_a2` is archived, `sub_company` is the builder's own
 * company record, `sub_a3` has no records.
 */
export async function insertSubcontractors(database: Database): Promise<void> {
  const em = database.fork();
  // The rows have columns only; entities also have properties that readers compute.
  const insert = (entity: EntityClass<object>, rows: object[]) => em.insertMany(entity, rows);
  await insert(Integrator, [{ id: 'intg_a', ...timestampsOf(0), name: 'Site Sync', deepLinkSchemes: [] }]);
  await insert(OAuthClient, [client('cli_a', 'intg_a'), client('cli_internal', null)]);
  await insert(Builder, ['buil_a', 'buil_b', 'buil_narrow'].map(builder));
  const connection = { ...timestampsOf(0), integratorId: 'intg_a', status: 'ACTIVE' };
  await insert(Connection, [
    { ...connection, builderId: 'buil_a', scopes: [...SCOPES] },
    { ...connection, builderId: 'buil_narrow', scopes: ['read:subcontractors'] },
  ]);
  await insert(Project, [
    project('proj_a1', 'buil_a', 1),
    project('proj_a2', 'buil_a', 2),
    project('proj_empty', 'buil_a', 3),
    project('proj_b', 'buil_b', 1),
  ]);
  await insert(Subcontractor, [
    subcontractor('sub_a1', 'buil_a', 1, {
      abn: '51824753556',
      address: { street: '1 Pier St', suburb: 'Perth', state: 'WA', postcode: '6000', country: 'Australia' },
      tags: ['steel', 'a "quoted", tag'],
      integrations: [{ type: 'ledger', sourceId: 's1', companyId: 'c1' }],
    }),
    subcontractor('sub_a2', 'buil_a', 2, { archivedAt: fixtureDay(3) }),
    subcontractor('sub_company', 'buil_a', 3, { isBuilder: true }),
    subcontractor('sub_a3', 'buil_a', 4),
    subcontractor('sub_b', 'buil_b', 1),
    subcontractor('sub_narrow', 'buil_narrow', 1),
  ]);
  await insert(SubcontractorProject, [
    { subcontractorId: 'sub_a1', projectId: 'proj_a1', statuses: ['SWMS_UPLOADED', 'INVITED'] },
    { subcontractorId: 'sub_a1', projectId: 'proj_a2', statuses: ['PREQUALIFIED', 'INVITED'] },
    { subcontractorId: 'sub_a2', projectId: 'proj_a1', statuses: ['INVITED'] },
    { subcontractorId: 'sub_company', projectId: 'proj_a1', statuses: ['ACCEPTED'] },
    { subcontractorId: 'sub_b', projectId: 'proj_b', statuses: ['INVITED'] },
  ]);
  await insert(SwmsDocument, [
    swms('swms_a1', 'sub_a1', 1, 'proj_a1', 'https://files.example/swms_a1.pdf'),
    swms('swms_a2', 'sub_a1', 2, null),
    swms('swms_archived', 'sub_a2', 1, null),
    swms('swms_company', 'sub_company', 1, 'proj_a1'),
  ]);
  await insert(Prequalification, [
    {
      id: 'prequal_a1',
      ...timestampsOf(1),
      builderId: 'buil_a',
      subcontractorId: 'sub_a1',
      status: 'SENT',
      reviewComments: null,
    },
    {
      id: 'prequal_a2',
      ...timestampsOf(2),
      builderId: 'buil_a',
      subcontractorId: 'sub_a1',
      status: 'APPROVED',
      reviewComments: 'Good.',
    },
  ]);
  await insert(Insurance, [
    insurance('doc_a1', 'sub_a1', 1, { expiry: fixtureDay(20), url: 'https://files.example/doc_a1.pdf' }),
    insurance('doc_a2', 'sub_a1', 2, { type: 'OTHER', customType: 'Plant', status: 'EXPIRED', expiry: fixtureDay(60) }),
    insurance('doc_a3', 'sub_a3', 3, { expiry: fixtureDay(30) }),
    insurance('doc_archived', 'sub_a2', 4, { expiry: fixtureDay(20) }),
  ]);
  await insert(Contact, [
    contact('con_a1', 1, { isPrimary: true, email: 'kim@example.com', projectIds: ['proj_a1', 'proj_a2'] }),
    contact('con_a2', 2, { type: 'BUILDER', phone: '+61 8 5550 1234', projectIds: ['proj_a2'] }),
  ]);
  await insert(Worker, [
    { id: 'wkr_a1', ...timestampsOf(1), builderId: 'buil_a', subcontractorId: 'sub_a1', fullName: 'Alex Ng' },
    { id: 'wkr_a2', ...timestampsOf(2), builderId: 'buil_a', subcontractorId: 'sub_a2', fullName: 'Sam Fox' },
  ]);
  await insert(SiteAccess, [
    { builderId: 'buil_a', workerId: 'wkr_a1', projectId: 'proj_a1', grantedAt: fixtureDay(1), revokedAt: null },
    {
      builderId: 'buil_a',
      workerId: 'wkr_a1',
      projectId: 'proj_a2',
      grantedAt: fixtureDay(2),
      revokedAt: fixtureDay(9),
    },
  ]);
  await insert(Induction, [
    induction('ind_a1', 1, 1, { data: [{ name: 'Licence', type: 'text', value: 'HR' }] }),
    induction('ind_a2', 2, 2, { status: 'WAITING_REVIEW' }),
    induction('ind_a3', 3, 1, { projectId: 'proj_a2', type: 'COMPANY_INDUCTION' }),
    induction('ind_archived', 4, 3, { subcontractorId: 'sub_a2', workerId: 'wkr_a2' }),
  ]);
}

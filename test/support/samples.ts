import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.ts';
import { encodeEventCursor } from '../../src/domain/events/event-cursor.ts';
import { readHead } from '../../src/domain/events/event-log.ts';
import { SecretBox } from '../../src/domain/webhooks/secret-box.ts';
import { newWebhookSecret } from '../../src/domain/webhooks/signature.ts';
import { generatedEntities, idScalarOf, insertGeneratedRows } from './generated-rows.ts';
import { TOKEN_KEY } from './harness.ts';

/**
 * Existing ids by the name of the argument's scalar. All are related records of one builder: the subcontractor works on the project, the
 * insurance is the subcontractor's, and so on.
 */
export type Samples = Record<string, string>;

/** Scalars of which there is a sample. */
export const SAMPLED_SCALARS = new Set([
  'BuilderId',
  'CalendarDate',
  'SubcontractorId',
  'ProjectId',
  'SwmsId',
  'PrequalificationId',
  'InsuranceId',
  'InductionKey',
  'TimesheetId',
  'CostCodeId',
  'DefectId',
  'MeetingId',
  'PhotoReportId',
  ...generatedEntities.map(idScalarOf),
]);

/** Returns the sample of a scalar. Throws if there is none. */
export function requireSample(samples: Samples, scalar: string): string {
  const sample = samples[scalar];
  if (sample !== undefined) return sample;
  throw new Error(
    `There is no sample of ${scalar}: name its kind in ID_PREFIXES like the entity and list the entity in entities/index.ts, or add the sample to test/support/samples.ts.`,
  );
}

/** Selects related rows of a builder: one of each kind that an operation needs. A meeting without a template has its notes in one text. */
const SELECT_RELATED_IDS = `select s.id as "SubcontractorId", p.id as "ProjectId", w.id as "SwmsId", q.id as "PrequalificationId",
    i.id as "InsuranceId", n.id as "InductionKey", t.id as "TimesheetId",
    t.cost_code_id as "CostCodeId", d.id as "DefectId", m.id as "MeetingId",
    a.worker_id as "WorkerId", r.id as "PhotoReportId", r.source_app as "ReportSourceApp",
    r.source_external_id as "ReportExternalId", other.source_external_id as "OtherReportExternalId"
  from subcontractor s
  join induction n on n.subcontractor_id = s.id
  join project p on p.id = n.project_id
  join swms_document w on w.subcontractor_id = s.id
  join prequalification q on q.subcontractor_id = s.id
  join insurance i on i.subcontractor_id = s.id
  join timesheet t on t.project_id = p.id and t.cost_code_id is not null
  join defect d on d.project_id = p.id
  join site_access a on a.project_id = p.id
  join meeting m on m.builder_id = s.builder_id and m.template_id is null
  join photo_report r on r.builder_id = s.builder_id
  join photo_report other on other.builder_id = r.builder_id and other.id > r.id
  where s.builder_id = ? and s.archived_at is null and not s.is_builder
  order by s.id limit 1`;

/**
 * Returns the ids of related records of a builder, and inserts those that the company rows lack: a photo, a webhook endpoint, and a row of
 * each generated entity.
 *
 * @param options.integrator name of the integrator's first client, which owns the photo and the webhook endpoint.
 * @param options.tokenKey key of the service, base64url, which encrypts the endpoint's secret.
 */
export async function createSamples(
  database: Database,
  builderId: string,
  { integrator = 'A', tokenKey = TOKEN_KEY } = {},
): Promise<Samples> {
  const em = database.fork();
  const [row] = (await em.execute(SELECT_RELATED_IDS, [builderId])) as Samples[];
  if (!row) throw new Error(`Builder ${builderId} has no complete sample.`);
  const name = `sample${integrator.toLowerCase()}`;
  const photo = { AttachmentId: `att_${name}`, FolderId: `fold_${name}` };
  await em.execute(SAMPLE_FOLDER, [photo.FolderId, builderId, row.ProjectId]);
  await em.execute(SAMPLE_PHOTO, [
    photo.AttachmentId,
    builderId,
    row.ProjectId,
    integrator,
    `photos/${builderId}/${name}.jpg`,
  ]);
  const endpointId = `whe_${name}`;
  const secret = new SecretBox([tokenKey]).encrypt(newWebhookSecret(), endpointId);
  await em.execute(SAMPLE_ENDPOINT, [endpointId, secret, integrator]);
  await em.execute(SAMPLE_PROGRESS, [endpointId]);
  await em.execute(SAMPLE_EVENT, [`saevt_${name}`, builderId, row.ProjectId!, row.WorkerId!, name, integrator]);
  await em.execute(SAMPLE_SNAPSHOT, [`snap_${name}`, builderId, integrator]);
  const head = await readHead(database);
  const ids = {
    SignOnEventId: `saevt_${name}`,
    SnapshotId: `snap_${name}`,
    WebhookEndpointId: endpointId,
    ReplayAfter: encodeEventCursor(database.region, head, head),
  };
  const samples = { BuilderId: builderId, CalendarDate: '2026-03-02', ...row, ...photo, ...ids };
  return { ...samples, ...(await insertGeneratedRows(database, builderId, name, samples)) };
}

const SAMPLE_FOLDER = `insert into photo_folder (id, builder_id, project_id, name, created_at, updated_at)
  values (?, ?, ?, 'Sample', now(), now()) on conflict do nothing`;
const SAMPLE_PHOTO = `insert into photo (id, builder_id, project_id, integrator_id, external_source_id, source, file_name,
    content_type, key, file_size, sort_date, created_at, updated_at)
  values (?, ?, ?, (select integrator_id from oauth_client where name = ?), 'sample', 'GALLERY', 'a.jpg', 'image/jpeg', ?, 1, now(), now(), now())
  on conflict do nothing`;

const SAMPLE_EVENT = `insert into sign_on_event (id, integrator_id, builder_id, project_id, worker_id, source_event_id, type, status, occurred_at,
    created_at, updated_at)
  select ?, integrator_id, ?, ?, ?, ?, 'SIGN_ON', 'APPLIED', now(), now(), now() from oauth_client where name = ? on conflict do nothing`;
const SAMPLE_ENDPOINT = `insert into webhook_endpoint (id, secret, integrator_id, client_id, url, status, created_at, updated_at)
  select ?, ?, client.integrator_id, client.id, 'https://app.example.invalid/hook', 'ACTIVE', now(), now()
  from oauth_client client where client.name = ? on conflict do nothing`;
const SAMPLE_PROGRESS = `insert into webhook_progress (endpoint_id, day, number)
  select id, current_date, 0 from webhook_endpoint where id = ? on conflict do nothing`;

const SAMPLE_SNAPSHOT = `insert into snapshot (id, builder_id, integrator_id, client_id, status, resources, scopes, created_at, finished_at, expires_at, has_files, erasures)
  select ?, ?, client.integrator_id, client.id, 'READY', '{projects}', '{read:projects}', '2026-05-01Z', '2026-05-01Z', '2099-01-01Z', true, 0
  from oauth_client client where client.name = ? on conflict do nothing`;

/** Time of the last change of the sample meeting. */
const MEETING_UPDATED_AT = '2026-05-04T06:30:00.000Z';

/** Restores the samples that an operation has deleted or changed, so that it can be called again. Unchanged rows are not written. */
export async function restoreSamples(database: Database): Promise<void> {
  const em = database.fork();
  await em.execute(RESTORE);
}

// An integrator may have 20 endpoints.
const RESTORE = `
  update photo set archived_at = null where id like 'att_sample%' and archived_at is not null;
  update photo_folder set archived_at = null where id like 'fold_sample%' and archived_at is not null;
  update webhook_endpoint set deleted_at = null, builder_ids = null
    where id like 'whe_sample%' and (deleted_at is not null or builder_ids is not null);
  delete from webhook_endpoint where id not like 'whe_sample%';
  update snapshot set deleted_at = null, status = 'READY', has_files = true where id like 'snap_sample%' and (deleted_at is not null or status <> 'READY');
  delete from snapshot where id not like 'snap_sample%';
  update meeting set updated_at = '${MEETING_UPDATED_AT}' where updated_at <> '${MEETING_UPDATED_AT}'`;

let revision = 1_000;

/** Creates a minimal valid photo report. */
const createPhotoReportBody = (ProjectId: string | undefined) => ({
  sourceApp: 'sitewalk',
  sourceExternalId: `walk-${randomUUID()}`,
  sourceRevision: ++revision,
  sourceCreatedAt: '2026-05-04T06:30:00Z',
  walkthroughDate: '2026-05-04T06:00:00Z',
  sourceAuthor: { externalId: 'author-118', name: 'Mia Tran' },
  projectId: ProjectId,
  page: { schemaVersion: 1, title: 'Level 3', blocks: [] },
});

const UPLOAD_REFERENCE = { key: 'uploads/none', regionId: 'au1', type: 'attachment' };

/**
 * Creates a valid body of each writing operation, by its field in the schema; a new one at each call, so that nothing is a replay. An
 * operation with a body that is missing here fails the tests that call every operation.
 */
export const REQUEST_BODIES: Record<string, (samples: Samples) => Record<string, unknown>> = {
  recordSignOnEvent: ({ WorkerId }) => ({
    sourceEventId: `gate-${randomUUID()}`,
    workerId: WorkerId,
    type: 'SIGN_ON',
    occurredAt: '2026-05-04T06:30:00Z',
  }),
  syncPhotoReport: ({ ProjectId }) => createPhotoReportBody(ProjectId),
  updatePhotoReport: ({ ProjectId, ReportSourceApp, ReportExternalId }) => ({
    ...createPhotoReportBody(ProjectId),
    ...{ sourceApp: ReportSourceApp, sourceExternalId: ReportExternalId },
  }),
  archivePhotoReport: ({ ReportSourceApp, OtherReportExternalId }) => ({
    sourceApp: ReportSourceApp,
    sourceExternalId: OtherReportExternalId,
  }),
  presignAttachment: () => ({ contentType: 'image/jpeg', fileName: 'a.jpg', size: 9, type: 'attachment' }),
  // A photo with this external id exists, so that the response is that photo and no upload is needed.
  createPhoto: () => ({ fileName: 'a.jpg', externalSourceId: 'sample', imageAttachment: UPLOAD_REFERENCE }),
  updatePhoto: () => ({ description: 'Slab edge', folderId: null }),
  createPhotoFolder: ({ ProjectId }) => ({ name: 'Level 3', projectId: ProjectId, parentId: null }),
  updatePhotoFolder: () => ({ name: 'Level 4', parentId: null }),
  bulkUpsertPhotos: ({ ProjectId }) => ({
    externalSourceId: `page-${randomUUID()}`,
    sourceApp: 'site-notes',
    projectId: ProjectId,
    folderName: 'Site walk',
    folderId: null,
    photos: [{ externalSourceId: '1', imageAttachment: UPLOAD_REFERENCE }],
  }),
  bulkDeletePhotos: () => ({ externalSourceId: `page-${randomUUID()}`, sourceApp: 'site-notes' }),
  createMeeting: ({ ProjectId }) => ({ title: 'Weekly site meeting', projectId: ProjectId }),
  updateMeetingNotes: () => ({ notes: 'Crane on Monday.', expectedUpdatedAt: MEETING_UPDATED_AT }),
  updateMeeting: () => ({ title: 'Weekly site meeting, moved' }),
  createWebhookEndpoint: () => ({ url: `https://app.example.com/${randomUUID()}` }),
  updateWebhookEndpoint: () => ({ types: ['timesheet.updated'] }),
  replayWebhookEndpoint: ({ ReplayAfter }) => ({ after: ReplayAfter }),
  createSnapshot: ({ BuilderId }) => ({ builderId: BuilderId, resources: null }),
  upsertMeetingNote: () => ({ externalSourceId: `note-${randomUUID()}`, title: 'Actions', summaryMarkdown: 'None.' }),
};

import type { Json } from '../proof/fuzz/contract.ts';
import { GIVE_ENDPOINTS_TO_DISABLED_CLIENT } from './disabled-owner.ts';
import {
  CODE,
  type ExampleCalls,
  type ExampleResponse,
  type RequestChanges,
  TOKEN,
  toExample,
} from './example-calls.ts';
import {
  BUILDER_ID,
  CLIENT_ID,
  CLIENT_SECRET,
  CODE_CLIENT_ID,
  type ExampleFixture,
  ID_BODY,
  OTHER_CLIENT_ID,
} from './example-fixture.ts';
import { BASE_URL } from './harness.ts';
import { alterSignature } from './request-factory.ts';

/** Name of an example, and the call that produces it. */
type Recording = [name: string, call: () => Promise<ExampleResponse>];

const SECOND_WORKER = 'wkr_a0mkq3v8t2second';

/** The responses of the document's error examples, each made by the call that leads to it. */
export function errorRecordings(fixture: ExampleFixture, calls: ExampleCalls): Recording[] {
  const send = (operationId: string, changes: RequestChanges = {}) => calls.send(operationId, changes);
  const { service, sql } = fixture;
  const tokenOf = (clientId: string, scope: string) => service.createToken({ clientId, scope });
  const exampleOf = (operationId: string): Json =>
    calls.findOperation(operationId).requestBody.content['application/json'].example;
  const sendOk = async (operationId: string, changes: RequestChanges = {}) => {
    const response = await send(operationId, changes);
    if (response.status >= 300) throw new Error(`${operationId}: ${response.status} ${response.body}`);
    return JSON.parse(response.body);
  };

  const sendAfterSync = (operationId: string, changes: object) => async (): Promise<ExampleResponse> => {
    await sendOk('syncPhotoReport');
    const base = operationId === 'archivePhotoReport' ? exampleOf(operationId) : exampleOf('syncPhotoReport');
    return send(operationId, { body: { ...base, ...changes } });
  };
  const sendAsOtherIntegrator = (operationId: string) => async (): Promise<ExampleResponse> => {
    await sendOk('syncPhotoReport', { token: await tokenOf(OTHER_CLIENT_ID, 'write:photos') });
    return send(operationId);
  };
  const page = { ...exampleOf('syncPhotoReport').page, title: 'Another title' };
  const missing = structuredClone(exampleOf('syncPhotoReport').page);
  missing.blocks[3].attachmentId = 'att_a0nobody';
  const reportConflicts = (operationId: string): Recording[] => [
    [`${operationId} 409 STALE_REVISION`, sendAfterSync(operationId, { sourceRevision: 6 })],
    [`${operationId} 409 REVISION_CONFLICT`, sendAfterSync(operationId, { page })],
    [`${operationId} 409 ATTACHMENT_CONFLICT`, sendAfterSync(operationId, { sourceRevision: 8, page: missing })],
    [`${operationId} 409 SOURCE_OWNERSHIP_REQUIRED`, sendAsOtherIntegrator(operationId)],
  ];

  const event = exampleOf('recordSignOnEvent');
  const signOff = { ...event, type: 'SIGN_OFF', sourceEventId: 'gate-2-20260302-000512' };
  const named = { ...signOff, sourceSignOnEventId: event.sourceEventId };
  const record = (body: object) => send('recordSignOnEvent', { body });
  const afterSignOn = (body: object, before?: () => Promise<unknown>) => async (): Promise<ExampleResponse> => {
    await sendOk('recordSignOnEvent');
    await before?.();
    return record(body);
  };
  const conflicts: Record<string, () => Promise<ExampleResponse>> = {
    EVENT_MISMATCH: afterSignOn({ ...event, deviceId: 'gate-3' }),
    WORKER_MISMATCH: afterSignOn({ ...named, workerId: SECOND_WORKER }),
    SIGN_ON_REQUIRED: afterSignOn(signOff),
    ALREADY_SIGNED_OFF: afterSignOn({ ...named, sourceEventId: 'gate-2-20260302-000513' }, () => record(named)),
    ATTENDANCE_CLOSED: afterSignOn(named, () =>
      sql('update sign_on_visit set closed_at = now() where builder_id = ?', [BUILDER_ID]),
    ),
  };

  const client = { client_id: CLIENT_ID, client_secret: CLIENT_SECRET };
  const oauth = (operationId: string, body: object, app: 'normal' | 'limited' | 'broken' | 'unavailable' = 'normal') =>
    send(operationId, {
      token: null,
      app,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body as Json,
    });
  const grant = (body: object) => () =>
    oauth('issueToken', { grant_type: 'client_credentials', ...client, scope: 'read:projects', ...body });
  const audience = BASE_URL;
  const oauthErrors = (operationId: string): Recording[] => [
    [
      `${operationId} 401 invalid_client`,
      () => oauth(operationId, { ...oauthBody(operationId), client_secret: 'wrong' }),
    ],
    [`${operationId} 405`, () => calls.inject('normal', { method: 'GET', url: calls.findOperation(operationId).path })],
    [`${operationId} 413`, () => oauth(operationId, { ...oauthBody(operationId), pad: 'x'.repeat(70_000) })],
    [
      `${operationId} 415`,
      () => send(operationId, { token: null, headers: { 'content-type': 'text/plain' }, payload: 'x' }),
    ],
    [
      `${operationId} 429`,
      async () => {
        await oauth(operationId, oauthBody(operationId), 'limited');
        return oauth(operationId, oauthBody(operationId), 'limited');
      },
    ],
    [`${operationId} 500`, () => oauth(operationId, oauthBody(operationId), 'broken')],
    [`${operationId} 503`, () => oauth(operationId, oauthBody(operationId), 'unavailable')],
  ];
  const oauthBody = (operationId: string) =>
    operationId === 'issueToken'
      ? { grant_type: 'client_credentials', ...client, audience, scope: 'read:projects' }
      : { ...client, token: TOKEN };

  const cursor = async () => (await sendOk('listEvents', { query: {} })).meta.nextCursor as string;
  const replay = async (statement: string): Promise<ExampleResponse> => {
    await sql(statement);
    return send('replayWebhookEndpoint', { body: { after: await cursor() } });
  };
  const webhookConflicts: Recording[] = [
    [
      'createWebhookEndpoint 409 WEBHOOK_ENDPOINT_LIMIT',
      async () => {
        const body = exampleOf('createWebhookEndpoint');
        for (let index = 1; index < 20; index++) {
          await sendOk('createWebhookEndpoint', { body: { ...body, url: `https://app.example.com/${index}` } });
        }
        return send('createWebhookEndpoint');
      },
    ],
    [
      'replayWebhookEndpoint 409 WEBHOOK_REPLAY_RUNNING',
      () => replay('update webhook_progress set replay_until = number'),
    ],
    [
      'replayWebhookEndpoint 409 WEBHOOK_ENDPOINT_NOT_ACTIVE',
      () => replay(`update webhook_endpoint set status = 'PAUSED'`),
    ],
    [
      'updateWebhookEndpoint 409 CLIENT_DISABLED',
      async () => {
        await sql(GIVE_ENDPOINTS_TO_DISABLED_CLIENT);
        return send('updateWebhookEndpoint', { body: { status: 'ACTIVE' } });
      },
    ],
    [
      'testWebhookEndpoint 409 WEBHOOK_SECRET_UNREADABLE',
      async () => {
        await sql(`update webhook_endpoint set secret = 'v1.00000000.'`);
        return send('testWebhookEndpoint');
      },
    ],
  ];

  const createUnconnectedToken = () => service.tokenOf('B');
  const tooLarge = JSON.stringify({ title: 'x'.repeat(1024 * 1024) });
  const sendWithAlteredSignature = async (operationId: string) => {
    const { pathname, search } = await createSignedUrl(operationId, calls);
    return calls.inject('normal', {
      ...methodOf(operationId),
      url: `${pathname}${alterSignature(search)}`,
    });
  };

  return [
    ['InvalidInput parameter', () => send('listBuilders', { query: { limit: '26' } })],
    [
      'InvalidInput header',
      async () =>
        calls.inject('normal', { url: '/timesheets', headers: { authorization: `Bearer ${await calls.token()}` } }),
    ],
    ['InvalidInput body', () => send('createMeeting', { payload: '{"title":' })],
    ['Unauthenticated missing', () => send('listBuilders', { token: null })],
    ['Unauthenticated invalid', () => send('listBuilders', { token: TOKEN })],
    ['Forbidden scope', async () => send('listProjects', { token: await tokenOf(CLIENT_ID, 'read:builders') })],
    [
      'Forbidden connection',
      async () => send('listProjects', { token: await tokenOf(OTHER_CLIENT_ID, 'read:projects') }),
    ],
    ['Forbidden builder', async () => send('listProjects', { token: await createUnconnectedToken() })],
    ['ForbiddenBuilder builder', async () => send('presignAttachment', { token: await createUnconnectedToken() })],
    [
      'CursorExpired cursor',
      async () => {
        const { meta } = JSON.parse((await send('listEvents')).body);
        await sql('select renew_event_epoch()');
        return send('listEvents', { query: { after: meta.nextCursor } });
      },
    ],
    [
      'IdempotentRecordGone record',
      async () => {
        await send('createPhotoFolder', { headers: { 'Idempotency-Key': 'gone' } });
        await sql(`update idempotency_key set record_id = 'deleted'`);
        return send('createPhotoFolder', { headers: { 'Idempotency-Key': 'gone' } });
      },
    ],
    [
      'IdempotencyKeyReused key',
      async () => {
        await send('createPhotoFolder');
        return send('createPhotoFolder', { body: { name: 'Level 4' } });
      },
    ],
    ['NotFound resource', () => send('getProject', { path: { projectId: 'proj_a0nobody' } })],
    ['PayloadTooLarge body', () => send('createMeeting', { payload: tooLarge })],
    [
      'UnsupportedMediaType body',
      () => send('createMeeting', { headers: { 'content-type': 'text/plain' }, payload: 'x' }),
    ],
    [
      'RateLimited limit',
      async () => {
        await send('getMe', { app: 'limited' });
        return send('getMe', { app: 'limited' });
      },
    ],
    [
      'UploadQuota limit',
      async () => {
        await send('presignAttachment', { app: 'limited' });
        return send('presignAttachment', { app: 'limited' });
      },
    ],
    [
      'UploadQuota quota',
      async () => {
        const values = [`buil_${ID_BODY}`, `intg_${ID_BODY}`];
        await sql(
          `insert into upload (key, builder_id, integrator_id, file_name, content_type, size, created_at)
           select 'full ' || n, ?, ?, 'a.jpg', 'image/jpeg', 2000000000, now() from generate_series(1, 9) n`,
          values,
        );
        try {
          return await send('presignAttachment');
        } finally {
          await sql(`delete from upload where key like 'full %'`);
        }
      },
    ],
    ['Internal failure', () => send('getMe', { app: 'broken' })],
    ['Unavailable database', () => send('getMe', { app: 'unavailable' })],
    ['getReadiness 503', () => send('getReadiness', { app: 'unavailable' })],
    ['updatePhotoFolder 409 FOLDER_CYCLE', () => send('updatePhotoFolder', { body: { parentId: `fold_${ID_BODY}` } })],
    ['deletePhotoFolder 409 FOLDER_NOT_EMPTY', () => send('deletePhotoFolder')],
    ...reportConflicts('syncPhotoReport'),
    ...reportConflicts('updatePhotoReport'),
    ['archivePhotoReport 409 STALE_REVISION', sendAfterSync('archivePhotoReport', { sourceRevision: 6 })],
    ['archivePhotoReport 409 SOURCE_OWNERSHIP_REQUIRED', sendAsOtherIntegrator('archivePhotoReport')],
    [
      'upsertMeetingNote 409 MEETING_NOTES_FULL',
      async () => {
        await sql(`update meeting set notes = repeat('x', 1000000) where builder_id = ?`, [BUILDER_ID]);
        return send('upsertMeetingNote');
      },
    ],
    ...webhookConflicts,
    [
      'createSnapshot 409 SNAPSHOT_RUNNING',
      async () => {
        await sendOk('createSnapshot');
        return send('createSnapshot', { headers: { 'Idempotency-Key': 'another' } });
      },
    ],
    ...Object.entries(conflicts).map(([code, call]): Recording => [`recordSignOnEvent 409 ${code}`, call]),
    ['issueToken 400 invalid_request', grant({})],
    ['issueToken 400 invalid_grant', grant({ grant_type: 'refresh_token', refresh_token: CODE })],
    ['issueToken 400 invalid_scope', grant({ client_id: OTHER_CLIENT_ID, audience, scope: 'write:meetings' })],
    ['issueToken 400 unauthorized_client', grant({ client_id: CODE_CLIENT_ID, audience })],
    ['issueToken 400 invalid_target', grant({ audience, resource: 'urn:other' })],
    ['issueToken 400 unsupported_grant_type', grant({ grant_type: 'password', audience })],
    ['revokeToken 400 invalid_request', () => oauth('revokeToken', client)],
    ['introspectToken 400 invalid_request', () => oauth('introspectToken', client)],
    ...['issueToken', 'revokeToken', 'introspectToken'].flatMap(oauthErrors),
    [
      'putUpload 400',
      async () => {
        const { pathname, search } = await createSignedUrl('putUpload', calls);
        return calls.inject('normal', {
          method: 'PUT',
          url: `${pathname}${search}`,
          headers: { 'content-type': 'image/jpeg' },
          payload: 'fewer bytes',
        });
      },
    ],
    ['putUpload 403', () => sendWithAlteredSignature('putUpload')],
    [
      'putUpload 409',
      async () => {
        const { pathname, search } = await createSignedUrl('putUpload', calls);
        const put = (byte: number) =>
          calls.inject('normal', { ...putOf(`${pathname}${search}`), payload: Buffer.alloc(sizeIn(search), byte) });
        await put(0);
        return put(1);
      },
    ],
    [
      'putUpload 429',
      async () => {
        const { pathname, search } = await createSignedUrl('putUpload', calls);
        const put = () =>
          calls.inject('limited', { ...putOf(`${pathname}${search}`), payload: Buffer.alloc(sizeIn(search)) });
        await put();
        return put();
      },
    ],
    ['getFile 403', () => sendWithAlteredSignature('getFile')],
    [
      'getFile 404',
      async () => {
        const { imageUrl } = await sendOk('getPhoto');
        const { pathname, search } = new URL(imageUrl);
        return calls.inject('normal', { url: `${pathname}${search}` });
      },
    ],
    [
      'getFile 416',
      async () => {
        const response = await send('uploadAttachment', {
          body: { type: 'attachment', file: Buffer.from('ten bytes!') },
        });
        const { pathname, search } = new URL(JSON.parse(response.body).imageUrl);
        return calls.inject('normal', { url: `${pathname}${search}`, headers: { range: 'bytes=4000-' } });
      },
    ],
  ];
}

const putOf = (url: string) => ({ method: 'PUT' as const, url, headers: { 'content-type': 'image/jpeg' } });
const sizeIn = (search: string) => Number(new URLSearchParams(search).get('size'));

const methodOf = (operationId: string) => ({ method: operationId === 'putUpload' ? 'PUT' : 'GET' });

/** Returns a new signed URL. */
export async function createSignedUrl(operationId: string, calls: ExampleCalls): Promise<URL> {
  if (operationId === 'getFile') return new URL((await calls.upload()).imageUrl);
  return new URL(JSON.parse((await calls.send('presignAttachment')).body).uploadUrl);
}

/** Returns the body as the document shows it. */
export const toExampleBody = ({ body }: ExampleResponse): unknown => JSON.parse(toExample(body));

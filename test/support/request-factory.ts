import { randomUUID } from 'node:crypto';
import { toRenditionKey } from '../../src/domain/photos/renditions.ts';
import { MAX_ENDPOINTS } from '../../src/domain/webhooks/endpoints.ts';
import { type ContractOperation, isBuilderParameter, type Json } from '../proof/fuzz/contract.ts';
import { GIVE_ENDPOINTS_TO_DISABLED_CLIENT } from './disabled-owner.ts';
import type { Service } from './harness.ts';
import { createPicture } from './images.ts';
import { REQUEST_BODIES, requireSample, type Samples } from './samples.ts';
import { openTestStorages } from './stores.ts';

/** A request and the instance that it is sent to; by default the instance without faults. */
export interface TestRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Buffer;
  app?: 'limited' | 'unavailable' | 'broken';
  signal?: AbortSignal;
}

type SendRequest = (sent: TestRequest) => Promise<Response>;

const FORM = 'application/x-www-form-urlencoded';
const OAUTH = ['issueToken', 'revokeToken', 'introspectToken'];
const UPLOADS = ['uploadAttachment', 'bulkUploadAttachments'];
/** Kind of the `{id}` by the first segment of the path; other ids are those of builders. */
const IDS_BY_ROUTE: Record<string, string> = {
  subcontractors: 'SubcontractorId',
  'webhook-endpoints': 'WebhookEndpointId',
  snapshots: 'SnapshotId',
};
const MIB = 1024 * 1024;
const BYTES = Buffer.from('nine bytes');
/** Downloads of one share that may wait for renditions (PHO-41). */
const MAX_WAITING_DOWNLOADS = 64;

/** Makes a photo one that another process renders. */
const CLAIM_RENDITION = `insert into photo_rendition (photo_id, share_key, attempts, claimed_until)
  select id, integrator_id, 1, clock_timestamp() + interval '1 minute' from photo where id = ?
  on conflict (photo_id) do update set status = 'PENDING', claimed_until = excluded.claimed_until`;

/** Creates, for every operation of the OpenAPI document, a request that has the given response status. */
export class RequestFactory {
  readonly #service: Service;
  readonly #samples: Samples;
  readonly #send: SendRequest;
  readonly #token: string;
  readonly #picture: Buffer;
  #waiting = new AbortController();

  private constructor(service: Service, samples: Samples, send: SendRequest, token: string, image: Buffer) {
    this.#service = service;
    this.#samples = samples;
    this.#send = send;
    this.#token = token;
    this.#picture = image;
  }

  static async create(service: Service, samples: Samples, send: SendRequest): Promise<RequestFactory> {
    return new RequestFactory(service, samples, send, await service.tokenOf('A'), await createPicture());
  }

  /** Returns requests that use up the rate limits of the client, of the address and of the token endpoint, of one request each. */
  createRateLimitRequests(): TestRequest[] {
    return [
      this.#get('/me'),
      { method: 'GET', url: '/oauth/authorize', headers: {} },
      this.#createOAuthRequest('/oauth/token', {}),
    ];
  }

  /** Ends the requests that wait in order to fill a limit. */
  endWaitingRequests(): void {
    this.#waiting.abort();
    this.#waiting = new AbortController();
  }

  async createRequest(operation: ContractOperation, status: number): Promise<TestRequest> {
    const special = this.#createSpecialRequest(operation, status);
    if (special) return special;
    const valid = await this.#createSuccessfulRequest(operation);
    switch (status) {
      case 400:
        return OAUTH.includes(operation.operationId)
          ? this.#createOAuthRequest(operation.path, {})
          : { ...valid, headers: { ...valid.headers, 'x-service-api-version': 'v2' } };
      case 401:
        return OAUTH.includes(operation.operationId)
          ? this.#createOAuthRequest(operation.path, { ...this.#parametersOf(operation), client_secret: 'x' })
          : { ...valid, headers: omitHeader(valid.headers, 'authorization') };
      case 403:
        return {
          ...valid,
          headers: { ...valid.headers, authorization: await this.#createUnauthorizedToken(operation) },
        };
      case 404:
        return this.#withUnknownId(operation, valid);
      case 405:
        return { method: 'GET', url: valid.url, headers: valid.headers };
      case 413:
        return withTooLargeBody(operation, valid);
      case 415:
        return { ...valid, headers: { ...valid.headers, 'content-type': 'text/plain' }, body: Buffer.from('x') };
      case 429:
        return { ...valid, app: 'limited' };
      case 500:
        return { ...valid, app: 'broken' };
      case 503:
        return { ...valid, app: 'unavailable' };
      default:
        return valid;
    }
  }

  /** Returns the request of a response that only this operation has; undefined for other responses. */
  #createSpecialRequest(operation: ContractOperation, status: number): Promise<TestRequest> | undefined {
    const { operationId, path } = operation;
    const at = (method: string) => ({ ...operation, method }) as ContractOperation;
    const own: Record<string, () => Promise<TestRequest>> = {
      'authorize 302': async () => this.#createAuthorizationRequest({ scope: 'write:everything' }),
      'authorize 400': async () => this.#createAuthorizationRequest({ client_id: 'cli_anobody' }),
      'createPhoto 201': () => this.#createPhotoRequest(),
      'createMeeting 200': () =>
        this.#sendOnce(this.#post(path, { title: 'Weekly', sourceApp: 'notes', externalSourceId: 'm-1' })),
      'createPhotoFolder 200': async () => this.#sendOnce(this.#withKey(this.#post(path, { name: 'Level 3' }))),
      'createSnapshot 200': async () => this.#sendOnce(this.#withKey(await this.#createSnapshotRequest())),
      'createSnapshot 202': () => this.#createSnapshotRequest(),
      'createSnapshot 404': async () => this.#post(path, { builderId: 'buil_anobody' }),
      'createSnapshot 409': async () => this.#sendOnce(await this.#createSnapshotRequest()),
      'upsertMeetingNote 200': () => this.#sendOnce(this.#post(path, REQUEST_BODIES.upsertMeetingNote!(this.#samples))),
      'upsertMeetingNote 409': async () => {
        await this.#sql(`update meeting set notes = repeat('x', 1000000) where id = ?`, this.#samples.MeetingId!);
        return this.#post(path, REQUEST_BODIES.upsertMeetingNote!(this.#samples));
      },
      'recordSignOnEvent 200': () => this.#sendOnce(this.#post(path, REQUEST_BODIES.recordSignOnEvent!(this.#samples))),
      'recordSignOnEvent 202': async () => {
        const type = { type: 'SIGN_OFF', sourceSignOnEventId: `gate-${randomUUID()}` };
        return this.#post(path, { ...REQUEST_BODIES.recordSignOnEvent!(this.#samples), ...type });
      },
      'recordSignOnEvent 409': async () => {
        const event = REQUEST_BODIES.recordSignOnEvent!(this.#samples);
        await this.#sendOk(this.#post(path, event));
        return this.#post(path, { ...event, deviceId: 'turnstile-2' });
      },
      'listEvents 400': async () => this.#get('/events?after=x'),
      'listEvents 404': async () => this.#get('/events?builderId=buil_anobody'),
      'listEvents 410': async () => {
        return this.#get(`/events?after=${await this.#createExpiredCursor()}`);
      },
      'createWebhookEndpoint 200': () =>
        this.#sendOnce(this.#post(path, REQUEST_BODIES.createWebhookEndpoint!(this.#samples))),
      'createWebhookEndpoint 409': async () => {
        const another = () => this.#post(path, REQUEST_BODIES.createWebhookEndpoint!(this.#samples));
        for (let count = 0; count < MAX_ENDPOINTS; count++) await this.#send(another());
        return another();
      },
      'updateWebhookEndpoint 409': async () => {
        const own = this.#post('/webhook-endpoints', REQUEST_BODIES.createWebhookEndpoint!(this.#samples));
        const { id } = (await this.#sendOk(own)) as { id: string };
        await this.#sql(`${GIVE_ENDPOINTS_TO_DISABLED_CLIENT} where id = ?`, id);
        return { ...own, method: 'PATCH', url: `${own.url}/${id}`, body: Buffer.from('{"status":"ACTIVE"}') };
      },
      'replayWebhookEndpoint 409': async () => {
        const { WebhookEndpointId } = this.#samples;
        await this.#sql('update webhook_progress set replay_until = number where endpoint_id = ?', WebhookEndpointId!);
        return this.#post(path, REQUEST_BODIES.replayWebhookEndpoint!(this.#samples));
      },
      'testWebhookEndpoint 409': async () => {
        const { WebhookEndpointId } = this.#samples;
        await this.#sql(`update webhook_endpoint set secret = 'v1.00000000.' where id = ?`, WebhookEndpointId!);
        return this.#createSuccessfulRequest(operation);
      },
      'replayWebhookEndpoint 410': async () => this.#post(path, { after: await this.#createExpiredCursor() }),
      'updatePhotoFolder 409': async () => ({
        ...this.#post(path, { parentId: this.#samples.FolderId }),
        method: 'PATCH',
      }),
      'deletePhotoFolder 409': async () => {
        await this.#sql(`update photo set folder_id = ? where external_source_id = 'sample'`, this.#samples.FolderId!);
        return { ...this.#get(this.#urlOf(path)), method: 'DELETE' };
      },
      'syncPhotoReport 409': async () => this.#post(path, this.#createStaleReport()),
      'updatePhotoReport 409': async () => ({ ...this.#post(path, this.#createStaleReport()), method: 'PATCH' }),
      'archivePhotoReport 409': async () => {
        const { sourceApp, sourceExternalId } = REQUEST_BODIES.archivePhotoReport!(this.#samples);
        await this.#sql(
          'update photo_report set source_revision = 7 where source_external_id = ?',
          String(sourceExternalId),
        );
        return { ...this.#post(path, { sourceApp, sourceExternalId, sourceRevision: 1 }), method: 'DELETE' };
      },
      'putUpload 400': async () => ({
        ...(await this.#createSuccessfulRequest(at('PUT'))),
        headers: { 'content-type': 'image/png' },
      }),
      'putUpload 409': async () => {
        const upload = await this.#createUploadRequest();
        await this.#send(upload);
        return { ...upload, body: Buffer.from(BYTES).reverse() };
      },
      'putUpload 429': async () => {
        await this.#send({ ...(await this.#createUploadRequest()), app: 'limited' });
        return { ...(await this.#createUploadRequest()), app: 'limited' };
      },
      'putUpload 403': async () => withAlteredSignature(await this.#createSuccessfulRequest(at('PUT'))),
      'getFile 206': async () => {
        const { sent, tag } = await this.#createTaggedFile();
        return { ...sent, headers: { range: 'bytes=0-3', 'if-range': tag } };
      },
      'getFile 304': async () => {
        const { sent, tag } = await this.#createTaggedFile();
        return { ...sent, headers: { 'if-none-match': tag } };
      },
      'getFile 416': async () => ({
        ...(await this.#createSuccessfulRequest(at('GET'))),
        headers: { range: 'bytes=999-' },
      }),
      'getFile 403': async () => withAlteredSignature(await this.#createSuccessfulRequest(at('GET'))),
      'getFile 404': async () => {
        const { BuilderId, AttachmentId } = this.#samples;
        const photo = await this.#sendOk(this.#get(`/builders/${BuilderId}/photos/${AttachmentId}`));
        return toSignedRequest('GET', photo.imageUrl);
      },
      'getFile 429': async () => {
        const waiting = { ...(await this.#createRenditionRequest()), signal: this.#waiting.signal };
        const responses = Array.from({ length: MAX_WAITING_DOWNLOADS + 1 }, () => this.#send(waiting));
        for (const response of responses) response.catch(() => undefined);
        // Only the request beyond the limit has a response; the others wait.
        await Promise.race(responses);
        const { signal: _, ...sent } = waiting;
        return sent;
      },
      'getFile 500': async () => ({ ...(await this.#createRenditionRequest()), app: 'broken' }),
      'getFile 503': async () => ({ ...(await this.#createRenditionRequest()), app: 'unavailable' }),
    };
    const isIdempotent = operation.responses[422] !== undefined;
    if (isIdempotent && (status === 410 || status === 422)) return this.#createRepeatedRequest(operation, status);
    return own[`${operationId} ${status}`]?.();
  }

  /** Returns a request that succeeds with the first success status of the operation. */
  async #createSuccessfulRequest(operation: ContractOperation): Promise<TestRequest> {
    const { operationId, method, path } = operation;
    if (OAUTH.includes(operationId)) return this.#createOAuthRequest(path, this.#parametersOf(operation));
    if (operationId === 'authorize') return this.#createAuthorizationRequest({});
    if (operationId === 'putUpload') return this.#createUploadRequest();
    if (operationId === 'getFile')
      return toSignedRequest('GET', (await this.#sendOk(await this.#createFormRequest('uploadAttachment'))).imageUrl);
    if (UPLOADS.includes(operationId)) return this.#createFormRequest(operationId);
    if (!operation.responses[401]) return { method, url: path, headers: {} };
    const url = this.#urlOf(path);
    const withBuilder = operation.parameters.some(isBuilderParameter);
    const headers = {
      ...this.#get(url).headers,
      ...(withBuilder && { 'x-service-builder-id': this.#samples.BuilderId! }),
    };
    const body = REQUEST_BODIES[operationId]?.(this.#samples);
    return body ? { ...this.#post(path, body), method } : { method, url, headers };
  }

  #urlOf(path: string): string {
    const kinds: Record<string, string> = {
      ...{ prequalId: 'PrequalificationId', swmsDocId: 'SwmsId' },
      ...{ identifierOrId: 'InductionKey', photoId: 'AttachmentId' },
      id: IDS_BY_ROUTE[path.split('/')[1]!] ?? 'BuilderId',
    };
    return path.replace(/\{(\w+)\}/g, (_, name: string) =>
      requireSample(this.#samples, kinds[name] ?? `${name[0]!.toUpperCase()}${name.slice(1)}`),
    );
  }

  #get(url: string): TestRequest {
    return { method: 'GET', url, headers: { authorization: `Bearer ${this.#token}` } };
  }

  #post(path: string, body: object): TestRequest {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    return { method: 'POST', url: this.#urlOf(path), headers, body: Buffer.from(JSON.stringify(body)) };
  }

  #parametersOf({ operationId }: ContractOperation): Record<string, string> {
    const { clientId, clientSecret } = this.#service.findDemoClient('A');
    const credentials = { client_id: clientId, client_secret: clientSecret! };
    if (operationId !== 'issueToken')
      return { ...credentials, token: operationId === 'introspectToken' ? this.#token : 'unknown' };
    return {
      grant_type: 'client_credentials',
      ...credentials,
      audience: 'http://localhost:4000',
      scope: 'read:builders',
    };
  }

  #createOAuthRequest(url: string, parameters: Record<string, string>): TestRequest {
    const body = Buffer.from(new URLSearchParams(parameters).toString());
    return { method: 'POST', url, headers: { 'content-type': FORM }, body };
  }

  #createAuthorizationRequest(changes: Record<string, string>): TestRequest {
    const { clientId, redirectUris } = this.#service.findDemoClient('A public');
    const query = new URLSearchParams({
      ...{
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUris[0]!,
        scope: 'read:builders',
        state: 's',
      },
      ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
      ...changes,
    });
    return { method: 'GET', url: `/oauth/authorize?${query}`, headers: {} };
  }

  /** Creates an upload form. The bytes are checked only when the upload is used; they are text, because Prism treats bodies as text. */
  async #createFormRequest(operationId: string, bytes: Buffer = BYTES): Promise<TestRequest> {
    const [file, type, route] =
      operationId === UPLOADS[0] ? ['file', 'type', 'upload'] : ['file:0', 'type:0', 'bulk-upload'];
    const form = new FormData();
    form.set(type!, 'attachment');
    form.set(file!, new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'a.jpg');
    return this.#encodeForm(`/builders/${this.#samples.BuilderId}/attachments/${route}`, form);
  }

  async #encodeForm(url: string, form: FormData): Promise<TestRequest> {
    const written = new Response(form);
    const headers = { ...this.#get(url).headers, 'content-type': written.headers.get('content-type')! };
    return { method: 'POST', url, headers, body: Buffer.from(await written.arrayBuffer()) };
  }

  async #createUploadRequest(): Promise<TestRequest> {
    const intent = { contentType: 'image/jpeg', fileName: 'a.jpg', size: BYTES.length, type: 'attachment' };
    const { uploadUrl } = await this.#sendOk(this.#post('/builders/{builderId}/attachments/presign', intent));
    return { ...toSignedRequest('PUT', uploadUrl), headers: { 'content-type': 'image/jpeg' }, body: BYTES };
  }

  async #uploadPicture(): Promise<object> {
    const { key, regionId, type } = await this.#sendOk(
      await this.#createFormRequest('uploadAttachment', this.#picture),
    );
    return { key, regionId, type };
  }

  async #createPhotoRequest(): Promise<TestRequest> {
    const body = { fileName: 'a.jpg', imageAttachment: await this.#uploadPicture() };
    return this.#post('/builders/{builderId}/photos', body);
  }

  /** Removes the snapshots of earlier requests, of which one may be written at a time. */
  async #createSnapshotRequest(): Promise<TestRequest> {
    await this.#sql(`delete from snapshot where id not like 'snap_sample%'`);
    return this.#post('/snapshots', { builderId: this.#samples.BuilderId, resources: ['projects'] });
  }

  /** Returns the download of a new photo, and the entity tag of its bytes. */
  async #createTaggedFile(): Promise<{ sent: TestRequest; tag: string }> {
    const { imageUrl } = await this.#sendOk(await this.#createPhotoRequest());
    const sent = toSignedRequest('GET', imageUrl);
    const response = await this.#send({ ...sent, method: 'HEAD' });
    return { sent, tag: response.headers.get('etag')! };
  }

  /** Returns the download of a rendition of the sample photo that is not stored, because another process renders it. */
  async #createRenditionRequest(): Promise<TestRequest> {
    const { AttachmentId: id = '', BuilderId: builderId = '' } = this.#samples;
    await this.#sql(CLAIM_RENDITION, id);
    const [photo] = await this.#sql('select key from photo where id = ?', id);
    // A share of its own: the downloads of other requests are not charged to it.
    const storage = openTestStorages(this.#service).au1.withShareKey('intg_waiting');
    return toSignedRequest(
      'GET',
      storage.createDownloadUrl(toRenditionKey({ id, builderId, key: photo.key }, 'SMALL')),
    );
  }

  /** Returns a report with other content and an older revision. */
  #createStaleReport(): object {
    return { ...REQUEST_BODIES.updatePhotoReport!(this.#samples), sourceRevision: 1 };
  }

  /** Returns a cursor of an expired epoch. Replaces the sample cursor by one of the new epoch. */
  async #createExpiredCursor(): Promise<string> {
    const nextCursor = async () => (await this.#sendOk(this.#get('/events'))).meta.nextCursor;
    const expired = await nextCursor();
    await this.#sql('select renew_event_epoch()');
    this.#samples.ReplayAfter = await nextCursor();
    return expired;
  }

  /** Returns a bearer token that lacks the scope, or whose client may not call the operation at all. */
  async #createUnauthorizedToken({ path, method }: ContractOperation): Promise<string> {
    const service = this.#service;
    if (/^\/(me|events|webhook-endpoints|request-log|snapshots|usage)\b/.test(path))
      return `Bearer ${await service.tokenOf('internal')}`;
    if (path.includes('/attachments/')) return `Bearer ${await service.tokenOf('B')}`;
    const isWrite = method !== 'GET';
    const scopes = service.findDemoClient('A').scopes.filter((scope) => scope.startsWith('write:') !== isWrite);
    // A scope of another area that no operation requires.
    return `Bearer ${await service.tokenOf('A', isWrite ? scopes : ['write:meetings'])}`;
  }

  #withUnknownId({ path }: ContractOperation, valid: TestRequest): TestRequest {
    if (!path.includes('{')) return { ...valid, headers: { ...valid.headers, 'x-service-builder-id': 'buil_anobody' } };
    return { ...valid, url: valid.url.replace(/\/(buil|sub|ts|whe|snap)_[a-z0-9]+/, '/$1_anobody') };
  }

  #withKey(sent: TestRequest): TestRequest {
    return { ...sent, headers: { ...sent.headers, 'idempotency-key': randomUUID() } };
  }

  /** Returns a request with a key that was used for another one (422), or whose record is deleted (410). */
  async #createRepeatedRequest({ operationId, path }: ContractOperation, status: number): Promise<TestRequest> {
    const requests: Record<string, () => Promise<TestRequest>> = {
      createPhoto: () => this.#createPhotoRequest(),
      createSnapshot: () => this.#createSnapshotRequest(),
    };
    const sent = this.#withKey((await requests[operationId]?.()) ?? this.#post(path, { title: 'a', name: 'a' }));
    await this.#sendOk(sent);
    if (status === 410) await this.#sql(`update idempotency_key set record_id = 'deleted'`);
    else sent.body = Buffer.from(sent.body!.toString().replace('"a', '"b').replace('projects', 'defects'));
    return sent;
  }

  async #sendOnce(sent: TestRequest): Promise<TestRequest> {
    await this.#sendOk(sent);
    return sent;
  }

  async #sendOk(sent: TestRequest): Promise<Json> {
    const response = await this.#send(sent);
    const text = await response.text();
    if (!response.ok) throw new Error(`${sent.method} ${sent.url}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  async #sql(statement: string, ...values: string[]): Promise<Json> {
    return this.#service.databases.au1.fork().execute(statement, values);
  }
}

/** Returns a request of a signed URL. The slashes of the storage key are escaped, because the document has it as one path segment. */
function toSignedRequest(method: string, url: string): TestRequest {
  const { pathname, search } = new URL(url);
  const [, storage, region, ...key] = pathname.split('/');
  return { method, url: `/${storage}/${region}/${encodeURIComponent(key.join('/'))}${search}`, headers: {} };
}

const withAlteredSignature = (sent: TestRequest): TestRequest => ({ ...sent, url: alterSignature(sent.url) });

/** Changes the first character of the signature, whichever it is. */
export const alterSignature = (url: string): string =>
  url.replace(/signature=(.)/, (_, first) => `signature=${first === '-' ? '_' : '-'}`);

const omitHeader = (headers: TestRequest['headers'], name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));

/** Returns the request with a body larger than the operation's limit. */
function withTooLargeBody({ operationId, path }: ContractOperation, valid: TestRequest): TestRequest {
  if (UPLOADS.includes(operationId)) {
    const part = (at: number) => `--b\r\nContent-Disposition: form-data; name="f${at}"\r\n\r\nx\r\n`;
    const body = Buffer.from(`${Array.from({ length: 100 }, (_, at) => part(at)).join('')}--b--\r\n`);
    return { ...valid, headers: { ...valid.headers, 'content-type': 'multipart/form-data; boundary=b' }, body };
  }
  const type = OAUTH.includes(operationId) ? FORM : 'application/json';
  const text = 'x'.repeat(path.includes('photo-reports') ? 33 * MIB : MIB + 1);
  // Prism serializes JSON again, but sends the Content-Length of the original.
  const body = Buffer.from(type === FORM ? text : JSON.stringify([text]));
  return { ...valid, headers: { ...valid.headers, 'content-type': type }, body };
}

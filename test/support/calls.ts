import { randomUUID } from 'node:crypto';
import { MAX_ENDPOINTS } from '../../src/domain/webhooks/endpoints.ts';
import { type Described, type Json, needsBuilder } from '../proof/fuzz/contract.ts';
import type { Service } from './harness.ts';
import { picture } from './images.ts';
import { BODIES, requireSample, type Samples } from './samples.ts';

/** A request, and the service that it is sent to. */
export interface Sent {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Buffer;
  app?: 'limited' | 'away' | 'broken';
}

type Send = (sent: Sent) => Promise<Response>;

const FORM = 'application/x-www-form-urlencoded';
const OAUTH = ['issueToken', 'revokeToken', 'introspectToken'];
const UPLOADS = ['uploadAttachment', 'bulkUploadAttachments'];
/** Kind of the `{id}` by the first segment of the path; other ids are those of builders. */
const IDS_BY_ROUTE: Record<string, string> = {
  subcontractors: 'SubcontractorId',
  'webhook-endpoints': 'WebhookEndpointId',
};
const MIB = 1024 * 1024;
const BYTES = Buffer.from('nine bytes');

/** Returns requests by the status of their response, for every operation of the document. */
export class Calls {
  readonly #service: Service;
  readonly #samples: Samples;
  readonly #send: Send;
  readonly #token: string;
  readonly #picture: Buffer;

  private constructor(service: Service, samples: Samples, send: Send, token: string, image: Buffer) {
    this.#service = service;
    this.#samples = samples;
    this.#send = send;
    this.#token = token;
    this.#picture = image;
  }

  static async prepare(service: Service, samples: Samples, send: Send): Promise<Calls> {
    return new Calls(service, samples, send, await service.as('A'), await picture());
  }

  /** Requests that use up the budget of the client, of the address, and of the token endpoint. */
  createBudgetCalls(): Sent[] {
    return [this.#get('/me'), { method: 'GET', url: '/oauth/authorize', headers: {} }, this.#oauth('/oauth/token', {})];
  }

  async createCall(operation: Described, status: number): Promise<Sent> {
    const special = this.#createSpecialCall(operation, status);
    if (special) return special;
    const usual = await this.#valid(operation);
    switch (status) {
      case 400:
        return OAUTH.includes(operation.operationId)
          ? this.#oauth(operation.path, {})
          : { ...usual, headers: { ...usual.headers, 'x-service-api-version': 'v2' } };
      case 401:
        return OAUTH.includes(operation.operationId)
          ? this.#oauth(operation.path, { ...this.#parametersOf(operation), client_secret: 'x' })
          : { ...usual, headers: without(usual.headers, 'authorization') };
      case 403:
        return {
          ...usual,
          headers: { ...usual.headers, authorization: await this.#createUnauthorizedToken(operation) },
        };
      case 404:
        return this.#toNobody(operation, usual);
      case 405:
        return { method: 'GET', url: usual.url, headers: usual.headers };
      case 413:
        return tooLarge(operation, usual);
      case 415:
        return { ...usual, headers: { ...usual.headers, 'content-type': 'text/plain' }, body: Buffer.from('x') };
      case 429:
        return { ...usual, app: 'limited' };
      case 500:
        return { ...usual, app: 'broken' };
      case 503:
        return { ...usual, app: 'away' };
      default:
        return usual;
    }
  }

  /** Responses that only this operation has. */
  #createSpecialCall(operation: Described, status: number): Promise<Sent> | undefined {
    const { operationId, path } = operation;
    const at = (method: string) => ({ ...operation, method }) as Described;
    const own: Record<string, () => Promise<Sent>> = {
      'authorize 302': async () => this.#authorize({ scope: 'write:everything' }),
      'authorize 400': async () => this.#authorize({ client_id: 'cli_anobody' }),
      'createPhoto 201': async () => this.#post(path, { fileName: 'a.jpg', imageAttachment: await this.#uploaded() }),
      'createMeeting 200': () =>
        this.#twice(this.#post(path, { title: 'Weekly', sourceApp: 'notes', externalSourceId: 'm-1' })),
      'upsertMeetingNote 200': () => this.#twice(this.#post(path, BODIES.upsertMeetingNote!(this.#samples))),
      'upsertMeetingNote 409': async () => {
        await this.#sql(`update meeting set notes = repeat('x', 1000000) where id = ?`, this.#samples.MeetingId!);
        return this.#post(path, BODIES.upsertMeetingNote!(this.#samples));
      },
      'recordSignOnEvent 200': () => this.#twice(this.#post(path, BODIES.recordSignOnEvent!(this.#samples))),
      'recordSignOnEvent 202': async () => {
        const type = { type: 'SIGN_OFF', sourceSignOnEventId: `gate-${randomUUID()}` };
        return this.#post(path, { ...BODIES.recordSignOnEvent!(this.#samples), ...type });
      },
      'recordSignOnEvent 409': async () => {
        const event = BODIES.recordSignOnEvent!(this.#samples);
        await this.#done(this.#post(path, event));
        return this.#post(path, { ...event, deviceId: 'turnstile-2' });
      },
      'listEvents 400': async () => this.#get('/events?after=x'),
      'listEvents 404': async () => this.#get('/events?builderId=buil_anobody'),
      'listEvents 410': async () => {
        return this.#get(`/events?after=${await this.#expiredCursor()}`);
      },
      'createWebhookEndpoint 200': () => this.#twice(this.#post(path, BODIES.createWebhookEndpoint!(this.#samples))),
      'createWebhookEndpoint 409': async () => {
        const another = () => this.#post(path, BODIES.createWebhookEndpoint!(this.#samples));
        for (let count = 0; count < MAX_ENDPOINTS; count++) await this.#send(another());
        return another();
      },
      'replayWebhookEndpoint 409': async () => {
        const { WebhookEndpointId } = this.#samples;
        await this.#sql('update webhook_progress set replay_until = number where endpoint_id = ?', WebhookEndpointId!);
        return this.#post(path, BODIES.replayWebhookEndpoint!(this.#samples));
      },
      'testWebhookEndpoint 409': async () => {
        const { WebhookEndpointId } = this.#samples;
        await this.#sql(`update webhook_endpoint set secret = 'v1.00000000.' where id = ?`, WebhookEndpointId!);
        return this.#valid(operation);
      },
      'replayWebhookEndpoint 410': async () => this.#post(path, { after: await this.#expiredCursor() }),
      'updatePhotoFolder 409': async () => ({
        ...this.#post(path, { parentId: this.#samples.FolderId }),
        method: 'PATCH',
      }),
      'deletePhotoFolder 409': async () => {
        await this.#sql(`update photo set folder_id = ? where external_source_id = 'sample'`, this.#samples.FolderId!);
        return { ...this.#get(this.#urlOf(path)), method: 'DELETE' };
      },
      'syncPhotoReport 409': async () => this.#post(path, this.#olderReport()),
      'updatePhotoReport 409': async () => ({ ...this.#post(path, this.#olderReport()), method: 'PATCH' }),
      'archivePhotoReport 409': async () => {
        const { sourceApp, sourceExternalId } = BODIES.archivePhotoReport!(this.#samples);
        await this.#sql(
          'update photo_report set source_revision = 7 where source_external_id = ?',
          String(sourceExternalId),
        );
        return { ...this.#post(path, { sourceApp, sourceExternalId, sourceRevision: 1 }), method: 'DELETE' };
      },
      'putUpload 400': async () => ({ ...(await this.#valid(at('PUT'))), headers: { 'content-type': 'image/png' } }),
      'putUpload 409': async () => {
        const upload = await this.#upload();
        await this.#send(upload);
        return { ...upload, body: Buffer.from(BYTES).reverse() };
      },
      'putUpload 429': async () => {
        await this.#send({ ...(await this.#upload()), app: 'limited' });
        return { ...(await this.#upload()), app: 'limited' };
      },
      'putUpload 403': async () => altered(await this.#valid(at('PUT'))),
      'getFile 206': async () => ({ ...(await this.#valid(at('GET'))), headers: { range: 'bytes=0-3' } }),
      'getFile 416': async () => ({ ...(await this.#valid(at('GET'))), headers: { range: 'bytes=999-' } }),
      'getFile 403': async () => altered(await this.#valid(at('GET'))),
      'getFile 404': async () => {
        const { BuilderId, AttachmentId } = this.#samples;
        const photo = await this.#done(this.#get(`/builders/${BuilderId}/photos/${AttachmentId}`));
        return signed('GET', photo.imageUrl);
      },
    };
    return own[`${operationId} ${status}`]?.();
  }

  /** Returns a call that succeeds with the usual status of the operation. */
  async #valid(operation: Described): Promise<Sent> {
    const { operationId, method, path } = operation;
    if (OAUTH.includes(operationId)) return this.#oauth(path, this.#parametersOf(operation));
    if (operationId === 'authorize') return this.#authorize({});
    if (operationId === 'putUpload') return this.#upload();
    if (operationId === 'getFile')
      return signed('GET', (await this.#done(await this.#form('uploadAttachment'))).imageUrl);
    if (UPLOADS.includes(operationId)) return this.#form(operationId);
    if (!operation.responses[401]) return { method, url: path, headers: {} };
    const url = this.#urlOf(path);
    const withBuilder = operation.parameters.some(needsBuilder);
    const headers = {
      ...this.#get(url).headers,
      ...(withBuilder && { 'x-service-builder-id': this.#samples.BuilderId! }),
    };
    const body = BODIES[operationId]?.(this.#samples);
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

  #get(url: string): Sent {
    return { method: 'GET', url, headers: { authorization: `Bearer ${this.#token}` } };
  }

  #post(path: string, body: object): Sent {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' };
    return { method: 'POST', url: this.#urlOf(path), headers, body: Buffer.from(JSON.stringify(body)) };
  }

  #parametersOf({ operationId }: Described): Record<string, string> {
    const { clientId, clientSecret } = this.#service.demo('A');
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

  #oauth(url: string, parameters: Record<string, string>): Sent {
    const body = Buffer.from(new URLSearchParams(parameters).toString());
    return { method: 'POST', url, headers: { 'content-type': FORM }, body };
  }

  #authorize(changes: Record<string, string>): Sent {
    const { clientId, redirectUris } = this.#service.demo('A public');
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

  /** The bytes of an upload are checked when it is used, so any text will do. Prism treats every body as text. */
  async #form(operationId: string, bytes: Buffer = BYTES): Promise<Sent> {
    const [file, type, route] =
      operationId === UPLOADS[0] ? ['file', 'type', 'upload'] : ['file:0', 'type:0', 'bulk-upload'];
    const form = new FormData();
    form.set(type!, 'attachment');
    form.set(file!, new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'a.jpg');
    return this.#withForm(`/builders/${this.#samples.BuilderId}/attachments/${route}`, form);
  }

  async #withForm(url: string, form: FormData): Promise<Sent> {
    const written = new Response(form);
    const headers = { ...this.#get(url).headers, 'content-type': written.headers.get('content-type')! };
    return { method: 'POST', url, headers, body: Buffer.from(await written.arrayBuffer()) };
  }

  async #upload(): Promise<Sent> {
    const intent = { contentType: 'image/jpeg', fileName: 'a.jpg', size: BYTES.length, type: 'attachment' };
    const { uploadUrl } = await this.#done(this.#post('/builders/{builderId}/attachments/presign', intent));
    return { ...signed('PUT', uploadUrl), headers: { 'content-type': 'image/jpeg' }, body: BYTES };
  }

  async #uploaded(): Promise<object> {
    const { key, regionId, type } = await this.#done(await this.#form('uploadAttachment', this.#picture));
    return { key, regionId, type };
  }

  /** Other content with an older revision. */
  #olderReport(): object {
    return { ...BODIES.updatePhotoReport!(this.#samples), sourceRevision: 1 };
  }

  /** A cursor of an expired epoch. The sample is replaced by a cursor of the new epoch. */
  async #expiredCursor(): Promise<string> {
    const nextCursor = async () => (await this.#done(this.#get('/events'))).meta.nextCursor;
    const expired = await nextCursor();
    await this.#sql('select renew_event_epoch()');
    this.#samples.ReplayAfter = await nextCursor();
    return expired;
  }

  /** A caller whose token lacks the scope, or that may not call the operation at all. */
  async #createUnauthorizedToken({ path, method }: Described): Promise<string> {
    const service = this.#service;
    if (/^\/(me|events|webhook-endpoints)\b/.test(path)) return `Bearer ${await service.as('internal')}`;
    if (path.includes('/attachments/')) return `Bearer ${await service.as('B')}`;
    const isWrite = method !== 'GET';
    const scopes = service.demo('A').scopes.filter((scope) => scope.startsWith('write:') !== isWrite);
    // A scope of another area that no operation requires.
    return `Bearer ${await service.as('A', isWrite ? scopes : ['write:meetings'])}`;
  }

  #toNobody({ path }: Described, usual: Sent): Sent {
    if (!path.includes('{')) return { ...usual, headers: { ...usual.headers, 'x-service-builder-id': 'buil_anobody' } };
    return { ...usual, url: usual.url.replace(/\/(buil|sub|ts|whe)_[a-z0-9]+/, '/$1_anobody') };
  }

  async #twice(sent: Sent): Promise<Sent> {
    await this.#done(sent);
    return sent;
  }

  async #done(sent: Sent): Promise<Json> {
    const response = await this.#send(sent);
    const text = await response.text();
    if (!response.ok) throw new Error(`${sent.method} ${sent.url}: ${response.status} ${text}`);
    return JSON.parse(text);
  }

  async #sql(statement: string, ...values: string[]): Promise<void> {
    await this.#service.databases.au1.fork().execute(statement, values);
  }
}

/** A storage key contains slashes, and the document has it as one path segment, so they are escaped. */
function signed(method: string, url: string): Sent {
  const { pathname, search } = new URL(url);
  const [, storage, region, ...key] = pathname.split('/');
  return { method, url: `/${storage}/${region}/${encodeURIComponent(key.join('/'))}${search}`, headers: {} };
}

const altered = (sent: Sent): Sent => ({ ...sent, url: alterSignature(sent.url) });

/** Changes the first character of the signature, whichever it is. */
export const alterSignature = (url: string): string =>
  url.replace(/signature=(.)/, (_, first) => `signature=${first === '-' ? '_' : '-'}`);

const without = (headers: Sent['headers'], name: string) =>
  Object.fromEntries(Object.entries(headers).filter(([other]) => other !== name));

/** A body larger than the operation's limit. */
function tooLarge({ operationId, path }: Described, usual: Sent): Sent {
  if (UPLOADS.includes(operationId)) {
    const part = (at: number) => `--b\r\nContent-Disposition: form-data; name="f${at}"\r\n\r\nx\r\n`;
    const body = Buffer.from(`${Array.from({ length: 100 }, (_, at) => part(at)).join('')}--b--\r\n`);
    return { ...usual, headers: { ...usual.headers, 'content-type': 'multipart/form-data; boundary=b' }, body };
  }
  const type = OAUTH.includes(operationId) ? FORM : 'application/json';
  const text = 'x'.repeat(path.includes('photo-reports') ? 33 * MIB : MIB + 1);
  // Prism serializes JSON again, but sends the Content-Length of the original.
  const body = Buffer.from(type === FORM ? text : JSON.stringify([text]));
  return { ...usual, headers: { ...usual.headers, 'content-type': type }, body };
}

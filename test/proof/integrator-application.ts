import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { blocks, type Json, page, request } from '../photo-reports/documents.ts';
import { BASE_URL } from './proof-environment.ts';
import type { ParsedResponse, RequestRecorder } from './request-recorder.ts';

/** Acknowledged writes, as the integrator records them. */
class AcknowledgedWrites {
  /** Number of responses that report the event as new, by the id of the sign-on event. */
  readonly events = new Map<string, { type: 'SIGN_ON' | 'SIGN_OFF'; newResponses: number }>();
  /** SHA-256 of the photos' bytes, by page and photo. */
  readonly photos = new Map<string, string>();
  /** The newest content of each photo report. */
  readonly reports = new Map<string, Json>();
  /** Summary of the only note of each meeting, by the meeting's external id. */
  readonly meetings = new Map<string, string>();

  get size(): number {
    return this.events.size + this.photos.size + this.reports.size + this.meetings.size;
  }
}

/** Ids of the builder, project and workers that the application writes to. */
export interface WriteTarget {
  builderId: string;
  projectId: string;
  workers: string[];
}

const SOURCE_APP = 'proof';
const FIRST_EVENT_AT = Date.parse('2026-04-01T00:00:00.000Z');

/** The application of an integrator, with several concurrent loops. Each write is repeated unchanged until it has a final response. */
export class IntegratorApplication {
  readonly acknowledged = new AcknowledgedWrites();
  retries = 0;
  /** Prefix of external ids, which distinguishes runs on one database. */
  readonly run: string;
  #number = 0;
  #token: Promise<string> | null = null;

  constructor(
    readonly client: DemoClient,
    readonly target: WriteTarget,
    readonly recorder: RequestRecorder,
    /** Returns the origin of an instance, another one each time. */
    readonly origin: () => string,
    run: string,
    readonly audience = BASE_URL,
  ) {
    this.run = `${run}-${client.name}`;
  }

  /** Runs the operations one after the other until `isOver`; every second one is a read. */
  async runLoop(isOver: () => boolean, pause: number): Promise<void> {
    const steps = [
      this.read,
      this.recordVisit,
      this.read,
      this.syncPhotoPage,
      this.read,
      this.syncMeeting,
      this.read,
      this.queryGraphql,
    ];
    for (let step = Math.floor(Math.random() * steps.length); !isOver(); step++) {
      await steps[step % steps.length]!.call(this, isOver);
      await sleep(pause);
    }
  }

  /** Syncs one revision of a report after the other until `isOver`. */
  async runReportLoop(isOver: () => boolean, pause: number): Promise<void> {
    const sourceExternalId = `walk-${this.run}`;
    for (let revision = 1; !isOver(); revision++) {
      const inner = [
        blocks.text('text', [{ text: `Revision ${revision}. `.repeat(200) }]),
        blocks.page(`p-${revision}`),
      ];
      const body = request({ sourceApp: SOURCE_APP, sourceExternalId, sourceRevision: revision, page: page(inner) });
      const response = await this.sendUntilFinal('report', 'POST', '/photo-reports/sync', body, isOver);
      if (response?.status === 200) this.acknowledged.reports.set(sourceExternalId, body);
      await sleep(pause);
    }
  }

  /** Reads once, without retries. */
  async read(): Promise<void> {
    const { builderId, projectId } = this.target;
    const paths = [
      ['builders', '/builders'],
      ['timesheets', `/timesheets?limit=5&projectId=${projectId}`],
      ['subcontractors', '/subcontractors?limit=5'],
      ['photos', `/builders/${builderId}/photos?limit=5`],
      ['projects', `/builders/${builderId}/projects`],
    ] as const;
    const [name, path] = paths[this.#number++ % paths.length]!;
    await this.#send(`read ${name}`, 'GET', path);
  }

  async queryGraphql(): Promise<void> {
    const query = `query ($id: BuilderId!) { projects(builderId: $id, status: IN_PROGRESS) { data { name
      timesheets(status: WAITING_REVIEW) { meta { totalCount } data { hours profile { fullName } } } } } }`;
    const response = await this.#send('graphql', 'POST', '/graphql', {
      query,
      variables: { id: this.target.builderId },
    });
    const [error] = response.body?.errors ?? [];
    if (error && response.status === 200) {
      // A GraphQL response has its status in the body.
      const { code, http } = error.extensions;
      Object.assign(this.recorder.requests.at(-1)!, { status: http.status, problem: code, retryAfter: 'in the body' });
    }
  }

  /** Sends the sign-on and sign-off events of a visit, which may arrive in any order. */
  async recordVisit(isOver: () => boolean): Promise<void> {
    const { projectId, workers } = this.target;
    const number = this.#number++;
    const workerId = workers[number % workers.length]!;
    const sourceSignOnEventId = `on-${this.run}-${number}`;
    const at = FIRST_EVENT_AT + number * 60_000;
    const on = {
      sourceEventId: sourceSignOnEventId,
      workerId,
      type: 'SIGN_ON',
      occurredAt: new Date(at).toISOString(),
    };
    const off = {
      ...{ sourceEventId: `off-${this.run}-${number}`, sourceSignOnEventId, workerId, type: 'SIGN_OFF' },
      occurredAt: new Date(at + 30_000).toISOString(),
    };
    const send = async (event: typeof on | typeof off) => {
      let newResponses = 0;
      const path = `/projects/${projectId}/sign-on-events`;
      const count = ({ status }: ParsedResponse) => (newResponses += status === 201 || status === 202 ? 1 : 0);
      const response = await this.sendUntilFinal('gate event', 'POST', path, event, isOver, count);
      if (!response || response.status >= 300) return;
      // A gate without a response sends the event again.
      if (number % 3 === 0) await this.sendUntilFinal('gate event', 'POST', path, event, () => false, count);
      this.acknowledged.events.set(event.sourceEventId, { type: event.type as 'SIGN_ON', newResponses });
    };
    await Promise.all([send(off), send(on)]);
  }

  /** Uploads two photos and syncs their page, twice. */
  async syncPhotoPage(isOver: () => boolean): Promise<void> {
    const number = this.#number++;
    const externalSourceId = `page-${this.run}-${number}`;
    const photos: { externalSourceId: string; imageAttachment: object }[] = [];
    const hashes: string[] = [];
    for (const way of ['presigned', 'form'] as const) {
      const bytes = await createPicture(`${externalSourceId} ${way}`);
      const imageAttachment = await this.#upload(way, bytes, isOver);
      if (!imageAttachment) return;
      hashes.push(createHash('sha256').update(bytes).digest('hex'));
      photos.push({ externalSourceId: way, imageAttachment });
    }
    const body = {
      ...{ externalSourceId, sourceApp: SOURCE_APP, projectId: this.target.projectId },
      ...{ folderName: externalSourceId, photos },
    };
    for (;;) {
      const response = await this.sendUntilFinal('gallery', 'POST', '/photo-gallery/bulk-upsert', body, isOver);
      if (response?.status !== 200) return;
      const failed = response.body.failedPhotos as { code: string; message: string }[];
      if (failed.some(({ code }) => code === 'TIMEOUT')) continue;
      for (const { code, message } of failed) this.#recordProblem('gallery', `${externalSourceId}: ${code} ${message}`);
      if (failed.length === 0) {
        photos.forEach((photo, at) => {
          this.acknowledged.photos.set(`${externalSourceId} ${photo.externalSourceId}`, hashes[at]!);
        });
      }
      return;
    }
  }

  /** Creates a meeting and syncs its note three times. */
  async syncMeeting(isOver: () => boolean): Promise<void> {
    const externalSourceId = `meeting-${this.run}-${this.#number++}`;
    const identity = { sourceApp: SOURCE_APP, externalSourceId };
    const created = await this.sendUntilFinal(
      'meeting',
      'POST',
      '/meetings',
      { ...identity, title: externalSourceId },
      isOver,
    );
    if (!created || created.status >= 300) return;
    for (let version = 1; version <= 3; version++) {
      const summaryMarkdown = `Version ${version} of ${externalSourceId}`;
      const path = `/meetings/${created.body.id}/notes`;
      const synced = await this.sendUntilFinal('note', 'POST', path, { ...identity, summaryMarkdown }, isOver);
      if (!synced || synced.status >= 300) return;
      this.acknowledged.meetings.set(externalSourceId, summaryMarkdown);
    }
  }

  /** Discards the token. A token of an instance with a wrong clock may be invalid. */
  discardToken(): void {
    this.#token = null;
  }

  /** Repeats a request until it has a final response; null at the end of the run. */
  async sendUntilFinal(
    operation: string,
    method: string,
    path: string,
    body: object | FormData,
    isOver: () => boolean,
    onResponse: (response: ParsedResponse) => void = () => {},
  ): Promise<ParsedResponse | null> {
    for (;;) {
      const response = await this.#send(operation, method, `/builders/${this.target.builderId}${path}`, body);
      onResponse(response);
      if (response.status >= 200 && response.status < 500 && response.status !== 401) return response;
      if (isOver()) return null;
      this.retries++;
      await sleep(100 + Math.random() * 200);
    }
  }

  async #upload(way: 'presigned' | 'form', bytes: Buffer, isOver: () => boolean): Promise<object | null> {
    if (way === 'form') {
      const form = new FormData();
      form.set('type', 'attachment');
      form.set('file', new File([bytes as never], 'site.jpg', { type: 'image/jpeg' }));
      const response = await this.sendUntilFinal('form upload', 'POST', '/attachments/upload', form, isOver);
      if (response?.status !== 201) return null;
      const { key, regionId, type } = response.body;
      return { key, regionId, type };
    }
    const intent = { contentType: 'image/jpeg', fileName: 'site.jpg', size: bytes.length, type: 'attachment' };
    while (!isOver()) {
      const response = await this.sendUntilFinal('presign', 'POST', '/attachments/presign', intent, isOver);
      if (response?.status !== 200) return null;
      const { uploadUrl, uploadHeaders, key, regionId, type } = response.body;
      const { pathname, search } = new URL(uploadUrl);
      // The service's base URL differs from the origin of the instance; a store's does not.
      const url = uploadUrl.startsWith(BASE_URL) ? `${this.origin()}${pathname}${search}` : uploadUrl;
      const headers = { 'Content-Type': uploadHeaders['Content-Type'] };
      const put = await this.recorder.send('put', url, { method: 'PUT', headers, body: bytes as never });
      if (put.status === 200) return { key, regionId, type };
      this.retries++;
      await sleep(100 + Math.random() * 200);
    }
    return null;
  }

  async #send(operation: string, method: string, path: string, body?: object | FormData): Promise<ParsedResponse> {
    const token = await this.#bearer();
    if (token === null) return { status: 0, body: null, bytes: new Uint8Array() };
    const isForm = body instanceof FormData;
    const response = await this.recorder.send(operation, `${this.origin()}${path}`, {
      method,
      headers: {
        ...{ authorization: `Bearer ${token}`, 'x-service-builder-id': this.target.builderId },
        ...(body && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    if (response.status === 401) this.discardToken();
    return response;
  }

  async #bearer(): Promise<string | null> {
    const { clientId, clientSecret, scopes } = this.client;
    const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    this.#token ??= this.recorder
      .send('token', `${this.origin()}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, audience: this.audience, scope: scopes.join(' ') }),
      })
      .then((response) => {
        if (response.status !== 200) throw new Error('no token');
        return response.body.access_token as string;
      });
    try {
      return await this.#token;
    } catch {
      this.discardToken();
      await sleep(100);
      return null;
    }
  }

  #recordProblem(operation: string, problem: string): void {
    const response = { begun: Date.now(), milliseconds: 0, status: 400, retryAfter: null };
    this.recorder.requests.push({ operation, problem, ...response });
  }
}

/** Returns a small picture with unique bytes. */
function createPicture(seed: string): Promise<Buffer> {
  const pixels = createHash('shake256', { outputLength: 32 * 24 * 3 })
    .update(seed)
    .digest();
  return sharp(pixels, { raw: { width: 32, height: 24, channels: 3 } })
    .jpeg()
    .toBuffer();
}

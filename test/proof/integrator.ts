import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { blocks, type Json, page, request } from '../photo-reports/documents.ts';
import type { Answer, Exchanges } from './exchange.ts';
import { BASE_URL } from './site.ts';

/** Acknowledged writes, as the integrator records them. */
class Acknowledged {
  /** Number of responses that an event is new, by the id of the sign-on event. */
  readonly events = new Map<string, { type: 'SIGN_ON' | 'SIGN_OFF'; news: number }>();
  /** SHA-256 of the photos' bytes, by page and photo. */
  readonly photos = new Map<string, string>();
  /** The newest content of each photo report. */
  readonly reports = new Map<string, Json>();
  /** Summary of the one note of each meeting, by the meeting's external id. */
  readonly meetings = new Map<string, string>();

  get size(): number {
    return this.events.size + this.photos.size + this.reports.size + this.meetings.size;
  }
}

/** Ids of the builder and project that it writes to, and of workers. */
export interface WriteTarget {
  builderId: string;
  projectId: string;
  workers: string[];
}

const SOURCE_APP = 'proof';
const FIRST = Date.parse('2026-04-01T00:00:00.000Z');

/** An integrator's application with several concurrent loops. Each request is repeated unchanged until it has a response. */
export class Application {
  readonly acknowledged = new Acknowledged();
  retries = 0;
  /** Prefix of external ids, which distinguishes runs on one database. */
  readonly run: string;
  #number = 0;
  #token: Promise<string> | null = null;

  constructor(
    readonly client: DemoClient,
    readonly target: WriteTarget,
    readonly exchanges: Exchanges,
    /** Returns the origin of an instance, another one each time. */
    readonly origin: () => string,
    run: string,
  ) {
    this.run = `${run}-${client.name}`;
  }

  /** Runs the loops one after the other until the signal, the third and fourth half as often as a read. */
  async work(isOver: () => boolean, pause: number): Promise<void> {
    const turns = [this.read, this.enter, this.read, this.showPage, this.read, this.meet, this.read, this.askGraph];
    for (let turn = Math.floor(Math.random() * turns.length); !isOver(); turn++) {
      await turns[turn % turns.length]!.call(this, isOver);
      await sleep(pause);
    }
  }

  /** Syncs one revision of a report after the other. */
  async keepReport(isOver: () => boolean, pause: number): Promise<void> {
    const sourceExternalId = `walk-${this.run}`;
    for (let revision = 1; !isOver(); revision++) {
      const inner = [
        blocks.text('text', [{ text: `Revision ${revision}. `.repeat(200) }]),
        blocks.page(`p-${revision}`),
      ];
      const body = request({ sourceApp: SOURCE_APP, sourceExternalId, sourceRevision: revision, page: page(inner) });
      const answer = await this.settle('report', 'POST', '/photo-reports/sync', body, isOver);
      if (answer?.status === 200) this.acknowledged.reports.set(sourceExternalId, body);
      await sleep(pause);
    }
  }

  /** Reads once, without a repetition. */
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

  async askGraph(): Promise<void> {
    const query = `query ($id: BuilderId!) { projects(builderId: $id, status: IN_PROGRESS) { data { name
      timesheets(status: WAITING_REVIEW) { meta { totalCount } data { hours profile { fullName } } } } } }`;
    const answer = await this.#send('graphql', 'POST', '/graphql', { query, variables: { id: this.target.builderId } });
    const [error] = answer.body?.errors ?? [];
    if (error && answer.status === 200) {
      // A GraphQL response has its status in the body.
      const { code, http } = error.extensions;
      Object.assign(this.exchanges.all.at(-1)!, { status: http.status, problem: code, retryAfter: 'in the body' });
    }
  }

  /** Sends a sign-on and its sign-off, which may arrive in any order. */
  async enter(isOver: () => boolean): Promise<void> {
    const { projectId, workers } = this.target;
    const number = this.#number++;
    const workerId = workers[number % workers.length]!;
    const sourceSignOnEventId = `on-${this.run}-${number}`;
    const at = FIRST + number * 60_000;
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
      let news = 0;
      const path = `/projects/${projectId}/sign-on-events`;
      const count = ({ status }: Answer) => (news += status === 201 || status === 202 ? 1 : 0);
      const answer = await this.settle('gate event', 'POST', path, event, isOver, count);
      if (!answer || answer.status >= 300) return;
      // A gate without a response sends the event again.
      if (number % 3 === 0) await this.settle('gate event', 'POST', path, event, () => false, count);
      this.acknowledged.events.set(event.sourceEventId, { type: event.type as 'SIGN_ON', news });
    };
    await Promise.all([send(off), send(on)]);
  }

  /** Uploads two photos and syncs their page, twice. */
  async showPage(isOver: () => boolean): Promise<void> {
    const number = this.#number++;
    const externalSourceId = `page-${this.run}-${number}`;
    const photos: { externalSourceId: string; imageAttachment: object }[] = [];
    const hashes: string[] = [];
    for (const way of ['presigned', 'form'] as const) {
      const bytes = await pictureOf(`${externalSourceId} ${way}`);
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
      const answer = await this.settle('gallery', 'POST', '/photo-gallery/bulk-upsert', body, isOver);
      if (answer?.status !== 200) return;
      const failed = answer.body.failedPhotos as { code: string; message: string }[];
      if (failed.some(({ code }) => code === 'TIMEOUT')) continue;
      for (const { code, message } of failed) this.#complain('gallery', `${externalSourceId}: ${code} ${message}`);
      if (failed.length === 0) {
        photos.forEach((photo, at) => {
          this.acknowledged.photos.set(`${externalSourceId} ${photo.externalSourceId}`, hashes[at]!);
        });
      }
      return;
    }
  }

  /** Creates a meeting and syncs its note three times. */
  async meet(isOver: () => boolean): Promise<void> {
    const externalSourceId = `meeting-${this.run}-${this.#number++}`;
    const identity = { sourceApp: SOURCE_APP, externalSourceId };
    const made = await this.settle('meeting', 'POST', '/meetings', { ...identity, title: externalSourceId }, isOver);
    if (!made || made.status >= 300) return;
    for (let version = 1; version <= 3; version++) {
      const summaryMarkdown = `Version ${version} of ${externalSourceId}`;
      const path = `/meetings/${made.body.id}/notes`;
      const noted = await this.settle('note', 'POST', path, { ...identity, summaryMarkdown }, isOver);
      if (!noted || noted.status >= 300) return;
      this.acknowledged.meetings.set(externalSourceId, summaryMarkdown);
    }
  }

  /** Drops the token: one that was issued by an instance with a wrong clock may be invalid. */
  forgetToken(): void {
    this.#token = null;
  }

  /** Repeats a request until it has a final response; null at the end of the run. */
  async settle(
    operation: string,
    method: string,
    path: string,
    body: object | FormData,
    isOver: () => boolean,
    hear: (answer: Answer) => void = () => {},
  ): Promise<Answer | null> {
    for (;;) {
      const answer = await this.#send(operation, method, `/builders/${this.target.builderId}${path}`, body);
      hear(answer);
      if (answer.status >= 200 && answer.status < 500 && answer.status !== 401) return answer;
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
      const answer = await this.settle('form upload', 'POST', '/attachments/upload', form, isOver);
      if (answer?.status !== 201) return null;
      const { key, regionId, type } = answer.body;
      return { key, regionId, type };
    }
    const intent = { contentType: 'image/jpeg', fileName: 'site.jpg', size: bytes.length, type: 'attachment' };
    while (!isOver()) {
      const answer = await this.settle('presign', 'POST', '/attachments/presign', intent, isOver);
      if (answer?.status !== 200) return null;
      const { uploadUrl, uploadHeaders, key, regionId, type } = answer.body;
      const { pathname, search } = new URL(uploadUrl);
      // The service's base URL differs from the origin of the instance; a store's does not.
      const url = uploadUrl.startsWith(BASE_URL) ? `${this.origin()}${pathname}${search}` : uploadUrl;
      const headers = { 'Content-Type': uploadHeaders['Content-Type'] };
      const put = await this.exchanges.send('put', url, { method: 'PUT', headers, body: bytes as never });
      if (put.status === 200) return { key, regionId, type };
      this.retries++;
      await sleep(100 + Math.random() * 200);
    }
    return null;
  }

  async #send(operation: string, method: string, path: string, body?: object | FormData): Promise<Answer> {
    const token = await this.#bearer();
    if (token === null) return { status: 0, body: null, bytes: new Uint8Array() };
    const isForm = body instanceof FormData;
    const answer = await this.exchanges.send(operation, `${this.origin()}${path}`, {
      method,
      headers: {
        ...{ authorization: `Bearer ${token}`, 'x-service-builder-id': this.target.builderId },
        ...(body && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    if (answer.status === 401) this.forgetToken();
    return answer;
  }

  async #bearer(): Promise<string | null> {
    const { clientId, clientSecret, scopes } = this.client;
    const body = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
    this.#token ??= this.exchanges
      .send('token', `${this.origin()}/oauth/token`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, audience: BASE_URL, scope: scopes.join(' ') }),
      })
      .then((answer) => {
        if (answer.status !== 200) throw new Error('no token');
        return answer.body.access_token as string;
      });
    try {
      return await this.#token;
    } catch {
      this.forgetToken();
      await sleep(100);
      return null;
    }
  }

  #complain(operation: string, problem: string): void {
    const answer = { begun: Date.now(), milliseconds: 0, status: 400, retryAfter: null };
    this.exchanges.all.push({ operation, problem, ...answer });
  }
}

/** Returns a small picture with unique bytes. */
function pictureOf(seed: string): Promise<Buffer> {
  const pixels = createHash('shake256', { outputLength: 32 * 24 * 3 })
    .update(seed)
    .digest();
  return sharp(pixels, { raw: { width: 32, height: 24, channels: 3 } })
    .jpeg()
    .toBuffer();
}

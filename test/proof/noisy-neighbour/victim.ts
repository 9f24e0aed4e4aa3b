import sharp from 'sharp';
import { dashboards } from '../../bench/dashboards.ts';
import { HttpClient, type HttpRequest } from './http-client.ts';
import type { VictimAccount } from './scenario.ts';

/** Milliseconds from one request of the victim's to the next. */
const INTERVAL_MS = 50;

/** Result of a request of the victim. */
export interface Observation {
  operation: string;
  status: number;
  milliseconds: number;
  /** Milliseconds of processor time of the service's event loop during the request, which other work of the machine does not change. */
  eventLoopMs: number;
  /** Problem of the response; empty without one. */
  problem: string;
}

interface VictimOptions {
  origin: string;
  account: VictimAccount;
  /** Public address of the service: the audience of its tokens. */
  baseUrl: string;
  /** Address of the victim. Each run uses another one, with a separate budget of token requests. */
  localAddress: string;
  codes: { code: string; verifier: string }[];
  /** Processor time of the service's event loops so far, in milliseconds, by process. */
  eventLoopTimes: () => ReadonlyMap<number, number>;
}

type Send = (operation: string, request: HttpRequest, isFresh?: boolean) => Promise<string | null>;
type Step = () => Promise<unknown>;

/**
 * The application of an integrator. It sends ordinary requests in rotation, one every 50 ms, without waiting for earlier responses.
 */
export class Victim {
  readonly observations: Observation[] = [];
  readonly #client: HttpClient;
  readonly #options: VictimOptions;
  readonly #steps: Step[];
  readonly #image: Buffer;
  readonly #pending = new Set<Promise<unknown>>();
  #token: string;
  #refreshToken: string | null = null;
  #uploads: Record<string, string>[] = [];
  #number = 0;
  #timer: NodeJS.Timeout | undefined;

  private constructor(options: VictimOptions, image: Buffer) {
    this.#options = options;
    this.#image = image;
    this.#token = options.account.clients[0]!.token;
    const { origin, localAddress } = options;
    this.#client = new HttpClient(origin, { connections: 200, localAddress });
    this.#steps = this.#rotation();
  }

  static async create(options: VictimOptions): Promise<Victim> {
    const background = { r: 90, g: 120, b: 60 };
    const noise = { type: 'gaussian', mean: 128, sigma: 30 } as const;
    const image = await sharp({ create: { width: 44, height: 33, channels: 3, background, noise } })
      .jpeg({ quality: 90 })
      .toBuffer();
    return new Victim(options, image);
  }

  start(): void {
    let next = 0;
    this.#timer = setInterval(() => {
      const sent = this.#steps[next++ % this.#steps.length]!();
      this.#pending.add(sent);
      void sent.finally(() => this.#pending.delete(sent));
    }, INTERVAL_MS);
  }

  /** Stops sending requests and waits for the outstanding responses. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    this.#client.close();
  }

  /** Removes and returns what was observed so far. */
  takeObservations(): Observation[] {
    return this.observations.splice(0);
  }

  #rotation(): Step[] {
    const { account } = this.#options;
    const { builderId, projectIds, subcontractorIds } = account;
    const get = (operation: string, path: string, isFresh = false) => {
      return () => this.#send(operation, { path, headers: this.#headers() }, isFresh);
    };
    const dashboard = (name: string) => {
      const { createQuery } = dashboards.find((one) => one.name === name)!;
      return () => this.#post(`dashboard ${name}`, '/graphql', createQuery(builderId));
    };
    const builders = get('builders', '/builders', true);
    const projects = get('projects', `/builders/${builderId}/projects?status=IN_PROGRESS`);
    const timesheets = get('timesheets', '/timesheets?status=WAITING_REVIEW&startDate=2026-01-01&limit=5');
    const timesheetsOfProject = get('timesheets', `/timesheets?projectId=${projectIds[0]}`);
    const subcontractors = get('subcontractors', '/subcontractors?limit=10');
    const subcontractor = get('subcontractor', `/subcontractors/${subcontractorIds[0]}`);
    const photos = get('photos', `/builders/${builderId}/photos?limit=5`);
    const meetings = get('meetings', `/builders/${builderId}/meetings?limit=5`);
    const second = (exchange: Step, refresh: Step) => [
      ...[builders, projects, this.#requestToken, timesheets, dashboard('Waiting')],
      ...[this.#recordSignOn, subcontractors, this.#uploadPhoto, subcontractor, exchange],
      ...[timesheetsOfProject, this.#createPhoto, dashboard('Inductions'), photos, this.#syncReport],
      ...[meetings, this.#recordSignOn, refresh, dashboard('Expiring'), timesheets],
    ];
    // Two requests per second would use up the budget of the public client, whose minutes are longer than a case (LIM-3).
    return [...second(this.#exchangeCode, this.#refresh), ...second(projects, photos)].map((step) => step.bind(this));
  }

  #headers(more: Record<string, string> = {}): Record<string, string> {
    const { builderId } = this.#options.account;
    return { authorization: `Bearer ${this.#token}`, 'x-service-builder-id': builderId, ...more };
  }

  readonly #send: Send = async (operation, request, isFresh = false) => {
    const before = this.#options.eventLoopTimes();
    const { status, milliseconds, body, error } = await this.#client.send(request, isFresh);
    const after = this.#options.eventLoopTimes();
    // The time of the process that was the busiest during the request.
    const eventLoopMs = Math.max(0, ...[...after].map(([pid, time]) => time - (before.get(pid) ?? time)));
    const hasFailed = status < 200 || status > 299 || body.startsWith('{"errors"');
    const problem = hasFailed ? error || body.slice(0, 200) : '';
    this.observations.push({ operation, status, milliseconds, eventLoopMs, problem });
    return hasFailed ? null : body;
  };

  #post(operation: string, path: string, body: object): Promise<string | null> {
    const headers = this.#headers({ 'content-type': 'application/json' });
    return this.#send(operation, { method: 'POST', path, headers, body: JSON.stringify(body) });
  }

  async #requestToken(): Promise<void> {
    const { account, baseUrl } = this.#options;
    const { clientId, clientSecret } = account.clients[0]!;
    const scope =
      'read:builders read:projects read:subcontractors read:timesheets read:inductions read:insurances read:contacts ' +
      'read:meetings read:photos write:photos write:sign_on_events';
    const body = {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      audience: baseUrl,
      scope,
    };
    const response = await this.#requestOAuth('token', body);
    if (response) this.#token = response.access_token!;
  }

  async #exchangeCode(): Promise<void> {
    const { account, codes } = this.#options;
    const { code, verifier } = codes.pop()!;
    const { publicClientId, redirectUri } = account;
    const response = await this.#requestOAuth('code exchange', {
      ...{ grant_type: 'authorization_code', client_id: publicClientId, redirect_uri: redirectUri },
      ...{ code, code_verifier: verifier },
    });
    if (response) this.#refreshToken = response.refresh_token!;
  }

  async #refresh(): Promise<void> {
    const refreshToken = this.#refreshToken;
    if (refreshToken === null) return;
    this.#refreshToken = null;
    await this.#requestOAuth('refresh', {
      ...{ grant_type: 'refresh_token', client_id: this.#options.account.publicClientId },
      refresh_token: refreshToken,
    });
  }

  async #requestOAuth(operation: string, parameters: Record<string, string>): Promise<Record<string, string> | null> {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URLSearchParams(parameters).toString();
    const response = await this.#send(operation, { method: 'POST', path: '/oauth/token', headers, body });
    return response && JSON.parse(response);
  }

  #recordSignOn(): Promise<unknown> {
    const { builderId, projectIds, workerIds } = this.#options.account;
    const number = this.#number++;
    return this.#post('sign-on event', `/builders/${builderId}/projects/${projectIds[0]}/sign-on-events`, {
      sourceEventId: `victim-${this.#options.localAddress}-${process.pid}-${Date.now()}-${number}`,
      ...{ workerId: workerIds[number % workerIds.length], type: 'SIGN_ON', deviceId: 'gate 1' },
      occurredAt: new Date(Date.now() - 60_000).toISOString(),
    });
  }

  async #uploadPhoto(): Promise<void> {
    const { builderId } = this.#options.account;
    const boundary = 'noisy-neighbour-boundary';
    const head =
      `--${boundary}\r\ncontent-disposition: form-data; name="type"\r\n\r\nattachment\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="site.jpg"\r\ncontent-type: image/jpeg\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), this.#image, Buffer.from(`\r\n--${boundary}--\r\n`)]);
    const headers = this.#headers({ 'content-type': `multipart/form-data; boundary=${boundary}` });
    const path = `/builders/${builderId}/attachments/upload`;
    const response = await this.#send('photo upload', { method: 'POST', path, headers, body });
    if (response) this.#uploads.push(JSON.parse(response));
  }

  async #createPhoto(): Promise<void> {
    const upload = this.#uploads.shift();
    if (!upload) return;
    const { key, regionId, type } = upload;
    const body = { fileName: 'site.jpg', imageAttachment: { key, regionId, type } };
    await this.#post('photo create', `/builders/${this.#options.account.builderId}/photos`, body);
  }

  #syncReport(): Promise<unknown> {
    const number = this.#number++;
    const block = { sourceBlockId: 'a', type: 'TEXT', properties: {}, richText: [{ text: `Walk ${number}` }] };
    return this.#post('photo report', `/builders/${this.#options.account.builderId}/photo-reports/sync`, {
      sourceApp: 'victim',
      sourceExternalId: `walk-${this.#options.localAddress}-${number}-${Date.now()}`,
      sourceRevision: 1,
      sourceCreatedAt: '2026-03-02T07:30:00Z',
      walkthroughDate: '2026-03-02T07:00:00Z',
      sourceAuthor: { externalId: 'a', name: 'Mia Tran' },
      page: { schemaVersion: 1, title: 'Walk', blocks: [block] },
    });
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from './instance.ts';

/** After so many milliseconds without success something is wrong that is no passing fault. */
const PATIENCE_MS = 90_000;

/** One client of the API, which sends the same again until it is answered. */
export class Caller {
  retries = 0;
  #turn = 0;
  #token: Promise<string> | null = null;

  constructor(
    readonly instances: Instance[],
    readonly builderId: string,
    readonly clientId: string,
    readonly clientSecret: string,
    /** The service's public address, which the instances do not have. */
    readonly baseUrl: string,
  ) {}

  /** Under a signed URL of the store. */
  async put(bytes: Buffer): Promise<object> {
    const intent = { contentType: 'image/jpeg', fileName: 'site.jpg', size: bytes.length, type: 'attachment' };
    const { uploadUrl, uploadHeaders, key, regionId, type } = await this.settle('POST', '/attachments/presign', intent);
    const headers = { 'Content-Type': uploadHeaders['Content-Type'] };
    await this.#until(uploadUrl.replace(this.baseUrl, ''), { method: 'PUT', headers, body: bytes as never });
    return { key, regionId, type };
  }

  /** Through the service, as a form. */
  async send(bytes: Buffer): Promise<object> {
    const body = new FormData();
    body.set('type', 'attachment');
    body.set('file', new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'site.jpg');
    const headers = { Authorization: `Bearer ${await this.#bearer()}` };
    const path = `/builders/${this.builderId}/attachments/upload`;
    const answer = await this.#until(path, { method: 'POST', headers, body });
    const { key, regionId, type } = (await answer.json()) as Record<string, string>;
    return { key, regionId, type };
  }

  /** Sends until it is answered, and until no photo has failed for a passing reason. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is walked by name.
  async settle(method: string, path: string, body: object): Promise<any> {
    const headers = { Authorization: `Bearer ${await this.#bearer()}`, 'Content-Type': 'application/json' };
    const answer = await this.#until(`/builders/${this.builderId}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const result = (await answer.json()) as { failedPhotos?: { code: string }[] };
    if (result.failedPhotos?.some(({ code }) => code === 'TIMEOUT')) return this.settle(method, path, body);
    if (result.failedPhotos?.length) throw new Error(`${path}: ${JSON.stringify(result.failedPhotos)}`);
    return result;
  }

  #bearer(): Promise<string> {
    const body = { grant_type: 'client_credentials', client_id: this.clientId, client_secret: this.clientSecret };
    this.#token ??= this.#until('/oauth/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...body, audience: this.baseUrl, scope: 'read:photos write:photos' }),
    }).then(async (answer) => ((await answer.json()) as { access_token: string }).access_token);
    return this.#token;
  }

  async #until(path: string, init: RequestInit): Promise<Response> {
    const begun = Date.now();
    for (let last = ''; ; ) {
      if (Date.now() - begun > PATIENCE_MS) throw new Refused(`${init.method} ${path} has no success: ${last}`);
      const { origin } = this.instances[this.#turn++ % this.instances.length]!;
      try {
        const answer = await fetch(new URL(path, origin), { ...init, signal: AbortSignal.timeout(30_000) });
        // The whole answer: it may be cut off as well.
        const body = await answer.arrayBuffer();
        if (answer.ok) return new Response(body, { status: 200 });
        last = `${origin} answered ${answer.status} ${Buffer.from(body)}`;
        if (answer.status < 500) throw new Refused(`${path}: ${answer.status} ${Buffer.from(body)}`);
      } catch (error) {
        if (error instanceof Refused) throw error;
        last = `${origin}: ${error}`;
      }
      this.retries++;
      await sleep(50);
    }
  }
}

class Refused extends Error {}

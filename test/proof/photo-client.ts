import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from './instance.ts';

/** Milliseconds without success after which the failure is not temporary. */
const SUCCESS_TIMEOUT_MS = 90_000;

/** A client that uploads photos and repeats each request unchanged until it succeeds. */
export class PhotoClient {
  retries = 0;
  #attempts = 0;
  #token: Promise<string> | null = null;

  constructor(
    readonly instances: Instance[],
    readonly builderId: string,
    readonly clientId: string,
    readonly clientSecret: string,
    /** The public address of the service, which signed URLs begin with. */
    readonly baseUrl: string,
  ) {}

  /** Uploads to a signed URL. Returns the reference of the attachment. */
  async uploadToSignedUrl(bytes: Buffer): Promise<object> {
    const intent = { contentType: 'image/jpeg', fileName: 'site.jpg', size: bytes.length, type: 'attachment' };
    const { uploadUrl, uploadHeaders, key, regionId, type } = await this.sendUntilAccepted(
      'POST',
      '/attachments/presign',
      intent,
    );
    const headers = { 'Content-Type': uploadHeaders['Content-Type'] };
    await this.#sendUntilSuccess(uploadUrl.replace(this.baseUrl, ''), { method: 'PUT', headers, body: bytes as never });
    return { key, regionId, type };
  }

  /** Uploads as a multipart form. Returns the reference of the attachment. */
  async uploadForm(bytes: Buffer): Promise<object> {
    const body = new FormData();
    body.set('type', 'attachment');
    body.set('file', new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'site.jpg');
    const headers = { Authorization: `Bearer ${await this.#bearer()}` };
    const path = `/builders/${this.builderId}/attachments/upload`;
    const response = await this.#sendUntilSuccess(path, { method: 'POST', headers, body });
    const { key, regionId, type } = (await response.json()) as Record<string, string>;
    return { key, regionId, type };
  }

  /** Repeats a request until it succeeds and no photo has failed temporarily. */
  // biome-ignore lint/suspicious/noExplicitAny: fields of the response are read by name.
  async sendUntilAccepted(method: string, path: string, body: object): Promise<any> {
    const headers = { Authorization: `Bearer ${await this.#bearer()}`, 'Content-Type': 'application/json' };
    const response = await this.#sendUntilSuccess(`/builders/${this.builderId}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const result = (await response.json()) as { failedPhotos?: { code: string }[] };
    if (result.failedPhotos?.some(({ code }) => code === 'TIMEOUT')) return this.sendUntilAccepted(method, path, body);
    if (result.failedPhotos?.length) throw new Error(`${path}: ${JSON.stringify(result.failedPhotos)}`);
    return result;
  }

  #bearer(): Promise<string> {
    const body = { grant_type: 'client_credentials', client_id: this.clientId, client_secret: this.clientSecret };
    this.#token ??= this.#sendUntilSuccess('/oauth/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...body, audience: this.baseUrl, scope: 'read:photos write:photos' }),
    }).then(async (response) => ((await response.json()) as { access_token: string }).access_token);
    return this.#token;
  }

  async #sendUntilSuccess(path: string, init: RequestInit): Promise<Response> {
    const begun = Date.now();
    for (let last = ''; ; ) {
      if (Date.now() - begun > SUCCESS_TIMEOUT_MS)
        throw new RejectedRequestError(`${init.method} ${path} has no success: ${last}`);
      const { origin } = this.instances[this.#attempts++ % this.instances.length]!;
      try {
        const response = await fetch(new URL(path, origin), { ...init, signal: AbortSignal.timeout(30_000) });
        // The connection may also be lost during the body.
        const body = await response.arrayBuffer();
        if (response.ok) return new Response(body, { status: 200 });
        last = `${origin} answered ${response.status} ${Buffer.from(body)}`;
        if (response.status < 500) throw new RejectedRequestError(`${path}: ${response.status} ${Buffer.from(body)}`);
      } catch (error) {
        if (error instanceof RejectedRequestError) throw error;
        last = `${origin}: ${error}`;
      }
      this.retries++;
      await sleep(50);
    }
  }
}

class RejectedRequestError extends Error {}

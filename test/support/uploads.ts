import type { LightMyRequestResponse } from 'fastify';
import type { Service } from './harness.ts';
import { picture } from './images.ts';

export interface Reference {
  key: string;
  regionId: string;
  type: string;
}

// biome-ignore lint/suspicious/noExplicitAny: an answer is walked by name.
type Json = any;

/** Requests of one client for one builder. */
export class Client {
  constructor(
    readonly service: Service,
    readonly token: string,
    readonly builderId: string,
  ) {}

  async send(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<LightMyRequestResponse> {
    return this.service.request({
      method,
      url: `/builders/${this.builderId}${path}`,
      headers: { authorization: `Bearer ${this.token}` },
      ...(body !== undefined && { payload: body }),
    });
  }

  /** Sends a request and returns its body. Fails unless it has the status. */
  async ok(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, status = 200): Promise<Json> {
    const answer = await this.send(method, path, body);
    if (answer.statusCode !== status) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.body}`);
    return answer.json();
  }

  presign(bytes: Buffer, contentType = 'image/jpeg', fileName = 'site.jpg'): Promise<Json> {
    const body = { contentType, fileName, size: bytes.length, type: 'attachment' };
    return this.ok('POST', '/attachments/presign', body);
  }

  /** Sends bytes to a signed URL. */
  put(uploadUrl: string, bytes: Buffer, contentType = 'image/jpeg'): Promise<LightMyRequestResponse> {
    const { pathname, search } = new URL(uploadUrl);
    const headers = { 'content-type': contentType };
    return this.service.request({ method: 'PUT', url: `${pathname}${search}`, headers, payload: bytes });
  }

  /** Presigns and uploads a file, by default a small picture. Returns its reference. */
  async upload(bytes?: Buffer, contentType = 'image/jpeg'): Promise<Reference> {
    const sent = bytes ?? (await picture());
    const { uploadUrl, key, regionId, type } = await this.presign(sent, contentType);
    const { statusCode, body } = await this.put(uploadUrl, sent, contentType);
    if (statusCode !== 200) throw new Error(`PUT: ${statusCode} ${body}`);
    return { key, regionId, type };
  }

  async createPhoto({
    imageAttachment,
    ...more
  }: {
    imageAttachment?: Reference;
    [field: string]: unknown;
  } = {}): Promise<Json> {
    const body = { fileName: 'site.jpg', imageAttachment: imageAttachment ?? (await this.upload()), ...more };
    return this.ok('POST', '/photos', body, 201);
  }

  /** Downloads the bytes of a signed URL of the service. */
  async download(imageUrl: string): Promise<LightMyRequestResponse> {
    const { pathname, search } = new URL(imageUrl);
    return this.service.request({ method: 'GET', url: `${pathname}${search}` });
  }
}

export async function clientOf(service: Service, name: string, at = 0): Promise<Client> {
  return new Client(service, await service.as(name), service.demo(name).builderIds[at]!);
}

import type { LightMyRequestResponse } from 'fastify';
import type { Service } from './harness.ts';
import { createPicture } from './images.ts';
import { useStarted } from './use-started.ts';

export interface UploadReference {
  key: string;
  regionId: string;
  type: string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests read responses by property name.
type Json = any;

/** Sends requests of one API client for one builder. */
export class BuilderClient {
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

  /** Sends a request and returns the body of the response. Throws unless it has the status. */
  async sendOk(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object, status = 200): Promise<Json> {
    const answer = await this.send(method, path, body);
    if (answer.statusCode !== status) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.body}`);
    return answer.json();
  }

  presign(bytes: Buffer, contentType = 'image/jpeg', fileName = 'site.jpg'): Promise<Json> {
    const body = { contentType, fileName, size: bytes.length, type: 'attachment' };
    return this.sendOk('POST', '/attachments/presign', body);
  }

  /** Sends bytes to a signed URL. */
  put(uploadUrl: string, bytes: Buffer, contentType = 'image/jpeg'): Promise<LightMyRequestResponse> {
    const { pathname, search } = new URL(uploadUrl);
    const headers = { 'content-type': contentType };
    return this.service.request({ method: 'PUT', url: `${pathname}${search}`, headers, payload: bytes });
  }

  /** Presigns and uploads a file, by default a small picture. Returns its reference. */
  async upload(bytes?: Buffer, contentType = 'image/jpeg'): Promise<UploadReference> {
    const sent = bytes ?? (await createPicture());
    const { uploadUrl, key, regionId, type } = await this.presign(sent, contentType);
    const { statusCode, body } = await this.put(uploadUrl, sent, contentType);
    if (statusCode !== 200) throw new Error(`PUT: ${statusCode} ${body}`);
    return { key, regionId, type };
  }

  async createPhoto({
    imageAttachment,
    ...more
  }: {
    imageAttachment?: UploadReference;
    [field: string]: unknown;
  } = {}): Promise<Json> {
    const body = { fileName: 'site.jpg', imageAttachment: imageAttachment ?? (await this.upload()), ...more };
    return this.sendOk('POST', '/photos', body, 201);
  }

  /** Downloads the bytes of a signed URL of the service. */
  async download(imageUrl: string): Promise<LightMyRequestResponse> {
    const { pathname, search } = new URL(imageUrl);
    return this.service.request({ method: 'GET', url: `${pathname}${search}` });
  }
}

export async function createBuilderClient(service: Service, name: string, at = 0): Promise<BuilderClient> {
  return new BuilderClient(service, await service.tokenOf(name), service.findDemoClient(name).builderIds[at]!);
}

/** Creates a client for the tests of a file, of a service that `useService` starts. */
export const useBuilderClient = (service: Service, name: string): BuilderClient =>
  useStarted(
    () => createBuilderClient(service, name),
    async () => undefined,
  );

import sharp from 'sharp';
import { SCOPES } from '../../schema/scopes.ts';
import { BASE_URL_PLACEHOLDER } from '../../src/rest/openapi/recorded-responses.ts';
import { Contract, type Json } from '../proof/fuzz/contract.ts';
import { CLIENT_ID, type ExampleFixture, ID_BODY } from './example-fixture.ts';
import { BASE_URL } from './harness.ts';

/** Placeholders in the examples for values that the service generates at each call. */
export const TOKEN = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjbGlfYTBta3EifQ.Q0Yb2c3d4e5f6a7b8c9d0e';
export const CODE = 'Jt3vS8mQx1Zk5Rw0Yb7Nc2Fd9Hg4Lp6Ua0Es8Wi1Ko';
const WEBHOOK_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazfgh1xd9Zs=';
const CURSOR = '3q2-7wABcf1Wb2T0mY9uJx5k1oQ3vHk8Zr0';
const UPLOAD = '5d1c6a0f9b7e4d2c8a315d1c6a0f9b7e4d2c';

export interface ExampleResponse {
  status: number;
  body: string;
  headers: Record<string, string | string[] | number | undefined>;
}

/** Differences of a call from the documented example. */
export interface RequestChanges {
  app?: keyof ExampleFixture['apps'];
  /** Token of the call; null sends none. */
  token?: string | null;
  path?: Record<string, string>;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Json;
  /** Encoded body, in place of `body`. */
  payload?: string;
  /** Whether optional parameters are sent with their examples. */
  optional?: boolean;
}

/** Sends the examples of the document to the service. */
export class ExampleCalls {
  readonly contract: Contract;
  readonly #fixture: ExampleFixture;
  readonly #document: Json;
  #token: string | undefined;

  constructor(fixture: ExampleFixture, document: Json) {
    this.#fixture = fixture;
    this.#document = document;
    this.contract = new Contract(document);
  }

  findOperation(operationId: string): Json {
    for (const [path, item] of Object.entries<Json>(this.#document.paths)) {
      for (const [method, operation] of Object.entries<Json>(item)) {
        if (operation.operationId === operationId) return { ...operation, method: method.toUpperCase(), path };
      }
    }
    throw new Error(`The document has no operation ${operationId}.`);
  }

  /** Returns a token of the examples' client with all scopes. */
  async token(): Promise<string> {
    this.#token ??= await this.#fixture.service.createToken({ clientId: CLIENT_ID, scope: SCOPES });
    return this.#token;
  }

  /** Calls an operation with the examples of its parameters and body. */
  async send(operationId: string, changes: RequestChanges = {}): Promise<ExampleResponse> {
    const { method, path, parameters = [], requestBody, security } = this.findOperation(operationId);
    const values: Json = { path: {}, query: {}, header: {} };
    for (const parameter of parameters.map((one: Json) => this.contract.resolveReference(one))) {
      // A creation with its example twice is a repeated request.
      const isSent = changes.optional || parameter.name === 'Idempotency-Key';
      const value = parameter.example ?? (isSent ? Object.values<Json>(parameter.examples ?? {})[0]?.value : undefined);
      if (value !== undefined) values[parameter.in][parameter.name] = value;
    }
    // A call with a cursor has no offset. Only the service can create a cursor of events.
    if (values.query.offset !== undefined) delete values.query.cursor;
    if (operationId === 'listEvents' && values.query.after !== undefined)
      values.query.after = JSON.parse((await this.send(operationId)).body).meta.nextCursor;
    const headers: Record<string, string> = { ...values.header, ...changes.headers };
    const token =
      changes.token === undefined && Object.keys(security[0] ?? {})[0]?.startsWith('oauth2')
        ? await this.token()
        : changes.token;
    if (token) headers.authorization = `Bearer ${token}`;
    const inPath = { ...values.path, ...changes.path };
    const url = path.replace(/\{(\w+)\}/g, (_: string, name: string) => encodeURIComponent(inPath[name]));
    const query = toQueryString({ ...values.query, ...changes.query });
    const [type, content] = Object.entries<Json>(requestBody?.content ?? {})[0] ?? [];
    const body = 'body' in changes ? changes.body : (content?.example ?? undefined);
    const written = await this.#encodeBody(headers['content-type'] ?? type, body);
    return this.inject(changes.app ?? 'normal', {
      method,
      url: query ? `${url}?${query}` : url,
      headers: { ...(written && { 'content-type': written.type }), ...headers },
      payload: changes.payload ?? written?.payload,
    });
  }

  async inject(app: keyof ExampleFixture['apps'], options: object): Promise<ExampleResponse> {
    const { statusCode: status, body, headers } = await this.#fixture.apps[app].inject(options);
    return { status, body, headers };
  }

  async #encodeBody(type: string | undefined, body: Json) {
    if (type === undefined || body === undefined) return undefined;
    if (type === 'multipart/form-data') return encodeForm(body);
    if (type === 'application/x-www-form-urlencoded') return { type, payload: new URLSearchParams(body).toString() };
    return { type, payload: await this.replacePlaceholders(JSON.stringify(body)) };
  }

  /** Replaces placeholders by a token and the keys of new uploads. */
  async replacePlaceholders(text: string): Promise<string> {
    let live = text.replaceAll(TOKEN, await this.token());
    for (const key of new Set(text.match(/uploads\/buil_\w+\/[0-9a-f]{36}/g))) {
      live = live.replaceAll(key, (await this.upload()).key);
    }
    return live;
  }

  /** Uploads an image. */
  async upload(): Promise<{ key: string; imageUrl: string }> {
    const response = await this.send('uploadAttachment', { body: { type: 'attachment', file: await createImage() } });
    return JSON.parse(response.body);
  }
}

const images: Buffer[] = [];

/** Returns an image with reproducible bytes. */
async function createImage(): Promise<Buffer> {
  images[0] ??= await sharp({ create: { width: 640, height: 480, channels: 3, background: '#7a8b99' } })
    .jpeg()
    .toBuffer();
  return images[0];
}

async function encodeForm(fields: Record<string, string | Buffer>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    const bytes = value === '(bytes)' ? await createImage() : value;
    if (typeof bytes === 'string') form.set(name, bytes);
    else form.set(name, new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'level-3-east.jpg');
  }
  const encoded = new Response(form);
  return { type: encoded.headers.get('content-type')!, payload: Buffer.from(await encoded.arrayBuffer()) };
}

function toQueryString(values: Record<string, unknown>): string {
  const pairs = Object.entries(values).flatMap(([name, value]) => [value].flat().map((item) => [name, String(item)]));
  return new URLSearchParams(pairs).toString();
}

/** An identifier; the database makes longer ones of events. */
const ID = /\b([a-z]+)_(a[0-9a-z]{25}|a[0-9a-f]{32})\b/g;

/** Bodies, after the prefix, of the identifiers that replace those created during a call. */
const ID_BODIES = [...'2345678'].map((digit) => ID_BODY.replace('t2', `t${digit}`));

/** Replaces identifiers created during the call by those of the examples, different ones by different ones. */
function withExampleIds(text: string): string {
  const replacements = new Map<string, string>();
  return text.replace(ID, (id, prefix: string, body: string) => {
    if (ID_BODIES.includes(body)) return id;
    const unusedId = () => {
      const taken = [...replacements.values()];
      const candidates = ID_BODIES.map((other) => `${prefix}_${other}`);
      return candidates.find((candidate) => !text.includes(candidate) && !taken.includes(candidate)) ?? id;
    };
    if (!replacements.has(id)) replacements.set(id, unusedId());
    return replacements.get(id)!;
  });
}

/** Replaces all values of a response that differ between runs. */
export const toExample = (text: string): string =>
  withExampleIds(text)
    .replaceAll(BASE_URL, BASE_URL_PLACEHOLDER)
    .replaceAll(encodeURIComponent(BASE_URL), encodeURIComponent(BASE_URL_PLACEHOLDER))
    .replace(/\b(uploads|photos)\/(buil_\w+)\/[0-9a-f]{36}/g, `$1/$2/${UPLOAD}`)
    .replace(/signature=[\w-]+/g, 'signature=9b2d47')
    .replace(/whsec_[\w+/=]+/g, WEBHOOK_SECRET)
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, TOKEN)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '7d1f3c52-8a6e-4a0e-9d0b-2f6f5c1f0b9e')
    .replace(/("fileSize": ?)"\d+"/g, '$1"2418044"')
    .replace(/("refresh_token": ?)"[\w-]+"/g, `$1"${CODE}"`)
    .replace(/("nextCursor": ?)"[\w-]+"/g, `$1"${CURSOR}"`)
    .replace(/([?&]code=)[\w-]+/g, `$1${CODE}`);

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: fields of the document are read by name.
export type Json = any;

/** An operation of the OpenAPI document, with its parameter references resolved. */
export interface ContractOperation {
  method: string;
  path: string;
  operationId: string;
  parameters: { name: string; in: string; required?: boolean; schema: Json; component?: string }[];
  /** JSON Schema of the body by its media type. */
  bodies: Record<string, Json>;
  needsToken: boolean;
  responses: Record<string, Json>;
}

/** Returns whether the parameter is the header of the builder, which operations without another builder parameter require. */
export const isBuilderParameter = ({ component }: ContractOperation['parameters'][number]) =>
  component === '#/components/parameters/BuilderId';

/** Response to a request. */
export interface ReceivedResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Request with its path and query string. */
export interface SentRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Buffer;
}

const ERROR = {
  type: 'object',
  properties: { code: { type: 'string', pattern: '^[A-Z_]+$' }, message: { type: 'string' } },
  required: ['code', 'message'],
  additionalProperties: false,
};

/** Statuses of requests that match no operation: unknown paths and methods, and unauthorized requests. */
const STATUSES_OUTSIDE_OPERATIONS = [400, 401, 403, 404, 405, 413, 415, 431];

/** Validates responses and requests against the OpenAPI document. */
export class Contract {
  readonly operations: ContractOperation[];
  readonly #document: Json;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  /** Parameters, headers and fields of forms are texts. */
  readonly #textAjv = new Ajv2020({ strict: false, allErrors: true, coerceTypes: true });
  readonly #requestAjv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  /** Validators of texts and of bodies of requests, by their schema in the document: to compile one takes milliseconds. */
  readonly #textValidators = new WeakMap<object, ValidateFunction>();
  readonly #bodyValidators = new WeakMap<object, ValidateFunction>();

  constructor(document: Json) {
    // Undocumented fields of a response are violations.
    this.#document = disallowUndocumentedProperties(document);
    for (const ajv of [this.#ajv, this.#textAjv, this.#requestAjv]) formats.default(ajv);
    this.#ajv.addSchema(this.#document, 'document');
    for (const ajv of [this.#textAjv, this.#requestAjv]) ajv.addSchema(document, 'document');
    this.operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, operation]) => this.#toOperation(method.toUpperCase(), path, operation)),
    );
  }

  /** Returns a schema of the document by its reference. */
  resolveReference(schema: Json): Json {
    return schema.$ref ? this.resolveReference(resolvePointer(this.#document, schema.$ref.slice(1))) : schema;
  }

  /** Returns how the response differs from the document; null for a valid one. */
  findViolation(method: string, url: string, response: ReceivedResponse): string | null {
    if (response.status >= 500) return `answers ${response.status}`;
    if (response.headers['x-injected'] !== undefined) return 'carries a header that was injected';
    return this.findResponseViolation(method, url, response);
  }

  /** Returns how the response differs from the document, which documents statuses from 500 too; null for a valid one. */
  findResponseViolation(method: string, url: string, response: ReceivedResponse): string | null {
    const { status, headers } = response;
    // Such a path is an unknown one, whatever it begins with: see `rewriteEncodedUrl`.
    const isUnknown = /^[^?]{2049}/.test(url) && /^[^?]*%/.test(url);
    const operation = isUnknown ? null : this.#findOperation(method === 'HEAD' ? 'GET' : method, url);
    if (!operation) return this.#findViolationOutsideOperations(method, url, response);
    // Node rejects such a request before it has a path, which the guide documents for all operations.
    if (status === 431) return this.#findSchemaViolation('error', ERROR, response);
    const documented = operation.responses[status];
    if (!documented) return `answers ${status}, which ${operation.operationId} does not document`;
    const wrongHeader = this.#findHeaderViolation(documented, headers);
    if (wrongHeader !== null || method === 'HEAD') return wrongHeader;
    const { content } = this.resolveReference(documented);
    const type = toMediaType(headers);
    if (!content) return response.body.length === 0 ? null : `answers ${status} with a body that is not documented`;
    const documentedType = Object.keys(content).find((name) => name === type || name === 'image/*');
    if (!documentedType) return `answers ${status} as ${type}`;
    if (documentedType !== 'application/json') return null;
    return this.#findSchemaViolation(`${operation.operationId} ${status}`, this.#toJsonSchema(documented), response);
  }

  /** Returns the parameters and parts of the request that the document does not allow, such as `query.limit`, with the reason. */
  findRequestViolations(operation: ContractOperation, request: SentRequest): string[] {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const [, ...segments] = toPathPattern(operation.path).exec(pathname)!;
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const headers = new Headers(request.headers);
    const violations = operation.parameters.flatMap(({ name, in: place, required, schema }) => {
      const values =
        place === 'path'
          ? [decodeURIComponent(segments[names.indexOf(name)]!)]
          : place === 'query'
            ? searchParams.getAll(name)
            : [headers.get(name)].filter((value) => value !== null);
      if (values.length === 0) return required ? [`${place}.${name} is missing`] : [];
      const isList = this.resolveReference(schema).type === 'array';
      const problem = this.#findTextViolation(schema, isList ? values : values.at(-1));
      return problem === null ? [] : [`${place}.${name} ${problem}`];
    });
    if (operation.needsToken && !headers.has('authorization')) violations.push('header.authorization is missing');
    return [...violations, ...this.#findBodyViolations(operation, headers, request.body)];
  }

  #findBodyViolations({ bodies }: ContractOperation, headers: Headers, body: Buffer | undefined): string[] {
    if (!body?.length) return [];
    const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
    const schema = bodies[type] ?? (type.startsWith('image/') ? bodies['image/*'] : undefined);
    if (schema === undefined) return [`body has the type ${type}`];
    if (type === 'application/json') {
      const validate = compileOnce(this.#bodyValidators, schema, () =>
        this.#requestAjv.compile(toDocumentReferences(schema)),
      );
      return validate(JSON.parse(body.toString())) ? [] : [`body ${this.#requestAjv.errorsText(validate.errors)}`];
    }
    if (type !== 'application/x-www-form-urlencoded') return [];
    const problem = this.#findTextViolation(schema, Object.fromEntries(new URLSearchParams(body.toString())));
    return problem === null ? [] : [`body ${problem}`];
  }

  #findHeaderViolation(documented: Json, headers: ReceivedResponse['headers']): string | null {
    for (const [name, header] of Object.entries<Json>(this.resolveReference(documented).headers ?? {})) {
      const value = headers[name.toLowerCase()];
      const problem = value === undefined ? null : this.#findTextViolation(this.resolveReference(header).schema, value);
      if (problem !== null) return `has the header ${name}: ${problem}`;
    }
    return null;
  }

  /** Returns how a value that was sent as text differs from its schema; null for a valid one. */
  #findTextViolation(schema: Json, value: unknown): string | null {
    const validate = compileOnce(this.#textValidators, schema, () =>
      this.#textAjv.compile({ type: 'object', properties: { value: toDocumentReferences(schema) } }),
    );
    return validate({ value }) ? null : this.#textAjv.errorsText(validate.errors);
  }

  #findViolationOutsideOperations(method: string, url: string, response: ReceivedResponse): string | null {
    const { status } = response;
    if (method === 'OPTIONS' && status === 204) return null;
    // The sign-in pages redirect the browser.
    if (status === 303 && url.startsWith('/oauth/')) return null;
    if (!STATUSES_OUTSIDE_OPERATIONS.includes(status)) return `answers ${status} where there is no operation`;
    if (method === 'HEAD' || toMediaType(response.headers) === 'text/html') return null;
    if (isOAuthError(response)) return null;
    if (status !== 400) return this.#findSchemaViolation('error', ERROR, response);
    return this.#findSchemaViolation('invalid', { $ref: 'document#/components/schemas/ValidationErrors' }, response);
  }

  #findSchemaViolation(name: string, schema: Json, { body, status }: ReceivedResponse): string | null {
    let value: unknown;
    try {
      value = JSON.parse(body.toString('utf8'));
    } catch {
      return `answers ${status} with a body that is no JSON`;
    }
    let validate = this.#validators.get(name);
    if (!validate) {
      validate = this.#ajv.compile(schema);
      this.#validators.set(name, validate);
    }
    return validate(value) ? null : `answers ${status} in another shape: ${this.#ajv.errorsText(validate.errors)}`;
  }

  /** Returns the JSON schema of a response, with references that Ajv can resolve. */
  #toJsonSchema(documented: Json): Json {
    const { schema } = this.resolveReference(documented).content['application/json'];
    return toDocumentReferences(schema);
  }

  #findOperation(method: string, url: string): ContractOperation | undefined {
    const path = url.split('?', 1)[0]!;
    return this.operations
      .filter((operation) => operation.method === method && toPathPattern(operation.path).test(path))
      .sort((one, other) => countParameters(one.path) - countParameters(other.path))[0];
  }

  #toOperation(method: string, path: string, operation: Json): ContractOperation {
    const { operationId, parameters = [], requestBody, responses, security = [] } = operation;
    const bodies = Object.entries<Json>(requestBody?.content ?? {}).map(([type, { schema }]) => [type, schema]);
    return {
      ...{ method, path, operationId, responses },
      parameters: parameters.map((parameter: Json) => ({
        ...this.resolveReference(parameter),
        component: parameter.$ref,
      })),
      bodies: Object.fromEntries(bodies),
      needsToken: security.some((scheme: object) => Object.keys(scheme).some((name) => name.startsWith('oauth2'))),
    };
  }
}

const resolvePointer = (document: Json, pointer: string): Json =>
  pointer
    .slice(1)
    .split('/')
    .reduce((value, name) => value[name], document);

const countParameters = (path: string) => path.split('{').length;

const patterns = new Map<string, RegExp>();

/** Returns the pattern of a documented path. A storage key may contain slashes. */
function toPathPattern(path: string): RegExp {
  let pattern = patterns.get(path);
  if (!pattern) {
    const source = path
      .replaceAll('.', '\\.')
      .replace('{key}', '(.+)')
      .replace(/\{\w+\}/g, '([^/]+)');
    pattern = new RegExp(`^${source}$`);
    patterns.set(path, pattern);
  }
  return pattern;
}

const toMediaType = (headers: ReceivedResponse['headers']) => String(headers['content-type'] ?? '').split(';', 1)[0]!;

function isOAuthError({ body }: ReceivedResponse): boolean {
  try {
    return typeof JSON.parse(body.toString('utf8')).error === 'string';
  } catch {
    return false;
  }
}

/** Returns the validator of a schema, compiled at its first use. */
function compileOnce(validators: WeakMap<object, ValidateFunction>, schema: object, compile: () => ValidateFunction) {
  const validate = validators.get(schema) ?? compile();
  validators.set(schema, validate);
  return validate;
}

/** Returns the schema with its references relative to the registered document. */
function toDocumentReferences(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === '$ref' ? `document${value}` : value)));
}

/** Returns the schema with undocumented properties disallowed, unless it allows them explicitly. */
function disallowUndocumentedProperties(value: Json): Json {
  if (Array.isArray(value)) return value.map(disallowUndocumentedProperties);
  if (value === null || typeof value !== 'object') return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, disallowUndocumentedProperties(item)]),
  ) as Json;
  const isObject = copy.type === 'object' && copy.properties && typeof copy.properties.type !== 'string';
  return isObject && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

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

const ERROR = {
  type: 'object',
  properties: { code: { type: 'string', pattern: '^[A-Z_]+$' }, message: { type: 'string' } },
  required: ['code', 'message'],
  additionalProperties: false,
};

/** Statuses of requests that match no operation: unknown paths and methods, and unauthorized requests. */
const STATUSES_OUTSIDE_OPERATIONS = [400, 401, 403, 404, 405, 413, 415, 431];

/** Validates responses against the OpenAPI document. */
export class Contract {
  readonly operations: ContractOperation[];
  readonly #document: Json;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    // Undocumented fields of a response are violations.
    this.#document = disallowUndocumentedProperties(document);
    formats.default(this.#ajv);
    this.#ajv.addSchema(this.#document, 'document');
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
    const { status, headers } = response;
    if (status >= 500) return `answers ${status}`;
    if (headers['x-injected'] !== undefined) return 'carries a header that was injected';
    const operation = this.#findOperation(method === 'HEAD' ? 'GET' : method, url);
    if (!operation) return this.#findViolationOutsideOperations(method, url, response);
    // Node rejects such a request before it has a path, which the guide documents for all operations.
    if (status === 431) return this.#findSchemaViolation('error', ERROR, response);
    const documented = operation.responses[status];
    if (!documented) return `answers ${status}, which ${operation.operationId} does not document`;
    if (method === 'HEAD') return null;
    const { content } = this.resolveReference(documented);
    const type = toMediaType(headers);
    if (!content) return response.body.length === 0 ? null : `answers ${status} with a body that is not documented`;
    const documentedType = Object.keys(content).find((name) => name === type || name === 'image/*');
    if (!documentedType) return `answers ${status} as ${type}`;
    if (documentedType !== 'application/json') return null;
    return this.#findSchemaViolation(`${operation.operationId} ${status}`, this.#toJsonSchema(documented), response);
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
    const { operationId, parameters = [], requestBody, responses } = operation;
    const bodies = Object.entries<Json>(requestBody?.content ?? {}).map(([type, { schema }]) => [type, schema]);
    return {
      ...{ method, path, operationId, responses },
      parameters: parameters.map((parameter: Json) => ({
        ...this.resolveReference(parameter),
        component: parameter.$ref,
      })),
      bodies: Object.fromEntries(bodies),
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
      .replace('{key}', '.+')
      .replace(/\{\w+\}/g, '[^/]+');
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

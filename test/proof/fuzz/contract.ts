import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by name.
export type Json = any;

/** An operation as the OpenAPI document describes it, with its references to parameters looked up. */
export interface Described {
  method: string;
  path: string;
  operationId: string;
  parameters: { name: string; in: string; required?: boolean; schema: Json; component?: string }[];
  /** JSON Schema of the body by its media type. */
  bodies: Record<string, Json>;
  responses: Record<string, Json>;
}

/** Whether it is the header that names the builder where nothing else does. */
export const needsBuilder = ({ component }: Described['parameters'][number]) =>
  component === '#/components/parameters/BuilderId';

/** Response to a request. */
export interface Answer {
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

/** Statuses of requests that reach no operation: unknown paths and methods, and callers without access. */
const OUTSIDE = [400, 401, 403, 404, 405, 413, 415, 431];

/** Validates responses by the OpenAPI document. */
export class Contract {
  readonly operations: Described[];
  readonly #document: Json;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: false });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: Json) {
    // A response has no undocumented fields.
    this.#document = closed(document);
    formats.default(this.#ajv);
    this.#ajv.addSchema(this.#document, 'document');
    this.operations = Object.entries<Json>(document.paths).flatMap(([path, item]) =>
      Object.entries<Json>(item).map(([method, operation]) => this.#describe(method.toUpperCase(), path, operation)),
    );
  }

  /** Returns a schema of the document by its reference. */
  lookUp(schema: Json): Json {
    return schema.$ref ? this.lookUp(valueAt(this.#document, schema.$ref.slice(1))) : schema;
  }

  /** Returns how the response differs from the document; null for a valid one. */
  violation(method: string, url: string, answer: Answer): string | null {
    const { status, headers } = answer;
    if (status >= 500) return `answers ${status}`;
    if (headers['x-injected'] !== undefined) return 'carries a header that was injected';
    const operation = this.#operationAt(method === 'HEAD' ? 'GET' : method, url);
    if (!operation) return this.#outsideViolation(method, url, answer);
    // Node rejects such a request before it has a path, which the guide documents for all operations.
    if (status === 431) return this.#shapeViolation('error', ERROR, answer);
    const response = operation.responses[status];
    if (!response) return `answers ${status}, which ${operation.operationId} does not document`;
    if (method === 'HEAD') return null;
    const { content } = this.lookUp(response);
    const type = mediaTypeOf(headers);
    if (!content) return answer.body.length === 0 ? null : `answers ${status} with a body that is not documented`;
    const documented = Object.keys(content).find((name) => name === type || name === 'image/*');
    if (!documented) return `answers ${status} as ${type}`;
    if (documented !== 'application/json') return null;
    return this.#shapeViolation(`${operation.operationId} ${status}`, this.#schemaOf(response), answer);
  }

  #outsideViolation(method: string, url: string, answer: Answer): string | null {
    const { status } = answer;
    if (method === 'OPTIONS' && status === 204) return null;
    // The sign-in pages redirect the browser.
    if (status === 303 && url.startsWith('/oauth/')) return null;
    if (!OUTSIDE.includes(status)) return `answers ${status} where there is no operation`;
    if (method === 'HEAD' || mediaTypeOf(answer.headers) === 'text/html') return null;
    if (isOAuthError(answer)) return null;
    if (status !== 400) return this.#shapeViolation('error', ERROR, answer);
    return this.#shapeViolation('invalid', { $ref: 'document#/components/schemas/ValidationErrors' }, answer);
  }

  #shapeViolation(name: string, schema: Json, { body, status }: Answer): string | null {
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

  /** The schema as ajv finds it, so that its references lead somewhere. */
  #schemaOf(response: Json): Json {
    const { schema } = this.lookUp(response).content['application/json'];
    return rebased(schema);
  }

  #operationAt(method: string, url: string): Described | undefined {
    const path = url.split('?', 1)[0]!;
    return this.operations
      .filter((operation) => operation.method === method && patternOf(operation.path).test(path))
      .sort((one, other) => parametersIn(one.path) - parametersIn(other.path))[0];
  }

  #describe(method: string, path: string, operation: Json): Described {
    const { operationId, parameters = [], requestBody, responses } = operation;
    const bodies = Object.entries<Json>(requestBody?.content ?? {}).map(([type, { schema }]) => [type, schema]);
    return {
      ...{ method, path, operationId, responses },
      parameters: parameters.map((parameter: Json) => ({ ...this.lookUp(parameter), component: parameter.$ref })),
      bodies: Object.fromEntries(bodies),
    };
  }
}

const valueAt = (document: Json, pointer: string): Json =>
  pointer
    .slice(1)
    .split('/')
    .reduce((value, name) => value[name], document);

const parametersIn = (path: string) => path.split('{').length;

const patterns = new Map<string, RegExp>();

/** A storage key contains slashes. */
function patternOf(path: string): RegExp {
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

const mediaTypeOf = (headers: Answer['headers']) => String(headers['content-type'] ?? '').split(';', 1)[0]!;

function isOAuthError({ body }: Answer): boolean {
  try {
    return typeof JSON.parse(body.toString('utf8')).error === 'string';
  } catch {
    return false;
  }
}

/** References that start at the document, wherever the schema stands. */
function rebased(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === '$ref' ? `document${value}` : value)));
}

/** Returns the schema with undocumented properties disallowed, unless it allows them explicitly. */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (value === null || typeof value !== 'object') return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, closed(item)])) as Json;
  const isObject = copy.type === 'object' && copy.properties && typeof copy.properties.type !== 'string';
  return isObject && copy.additionalProperties === undefined ? { ...copy, additionalProperties: false } : copy;
}

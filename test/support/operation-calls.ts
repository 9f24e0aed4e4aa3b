import { buildOperationNodeForField } from '@graphql-tools/utils';
import { type GraphQLField, getNamedType, type OperationTypeNode, print } from 'graphql';
import type { Operation } from '../../schema/route-table.ts';
import { locateArguments } from '../../src/rest/input.ts';
import type { ManualOperation } from '../../src/rest/openapi/manual-operations/manual-operation.ts';
import { createRestSchema } from '../../src/rest/projection.ts';
import { schema } from './definition.ts';
import type { Service } from './harness.ts';
import { REQUEST_BODIES, requireSample, restoreSamples, type Samples } from './samples.ts';

const restSchema = createRestSchema(schema);

/** Whether an operation deletes or changes the sample that it needs, or needs one that another operation changes. */
const needsRestoring = (field: string) =>
  ['deletePhoto', 'deletePhotoFolder', 'updateMeetingNotes'].includes(field) || /ebhook|napshot/.test(field);

/** The parts of a response that depend on authorization. */
export interface OperationResult {
  status: number;
  code: string | undefined;
  body: string;
}

/** Calls operations with existing ids and counts the calls. */
export class OperationCalls {
  count = 0;

  /** @param parameters Optional arguments, which are sent where an operation has them. */
  constructor(
    readonly service: Service,
    readonly samples: Samples,
    readonly parameters: Record<string, string> = {},
  ) {}

  /** Calls an operation through REST, by default with the ids of the samples. */
  async rest(
    operation: Operation,
    token: string | null,
    headers: Record<string, string> = {},
    samples = this.samples,
  ): Promise<OperationResult> {
    this.count++;
    if (needsRestoring(operation.field)) await restoreSamples(this.service.databases.au1);
    const locations = locateArguments(operation, schema);
    const value = (name: string) =>
      requireSample(samples, getNamedType(locations.find((one) => one.name === name)!.argument.type).name);
    const url = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => value(name));
    const builder = locations.some(({ location }) => location === 'header') && {
      'x-service-builder-id': samples.BuilderId!,
    };
    const query = new URLSearchParams(operation.builderIsInput ? { builderId: samples.BuilderId! } : {});
    for (const { name, location } of locations)
      if (location === 'query' && this.parameters[name]) query.set(name, this.parameters[name]);
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await this.service.request({
      method: operation.method,
      url: query.size > 0 ? `${url}?${query}` : url,
      headers: { ...builder, ...authorization, ...headers },
      ...(REQUEST_BODIES[operation.field] && { payload: REQUEST_BODIES[operation.field]!(samples) }),
    });
    return { status: response.statusCode, code: response.json().code as string | undefined, body: response.body };
  }

  /** Calls an operation through GraphQL. */
  async graphql(
    kind: 'Query' | 'Mutation',
    field: GraphQLField<unknown, unknown>,
    token: string | null,
    headers = {},
    samples = this.samples,
  ): Promise<OperationResult> {
    this.count++;
    if (needsRestoring(field.name)) await restoreSamples(this.service.databases.au1);
    const document = field.extensions.rest ? selectAllFields(kind, field.name) : createOperationDocument(kind, field);
    const ids = Object.fromEntries(
      field.args.map(({ name, type }) => [name, this.parameters[name] ?? samples[getNamedType(type).name]]),
    );
    const variables = { ...ids, ...REQUEST_BODIES[field.name]?.(samples) };
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await this.service.request({
      method: 'POST',
      url: '/graphql',
      headers: { ...authorization, ...headers },
      payload: { query: document, variables },
    });
    const body = response.json();
    const error = body.errors?.[0]?.extensions;
    return { status: error?.http.status ?? 200, code: error?.code as string | undefined, body: response.body };
  }

  /** Calls a manual operation with a multipart form. */
  async upload(
    { method, path }: ManualOperation,
    token: string | null,
    headers: Record<string, string> = {},
  ): Promise<OperationResult> {
    this.count++;
    const url = path.replace('{builderId}', this.samples.BuilderId!);
    const form = ['type=attachment', 'file:0=x', 'file=x'].map((pair) => {
      const [name, value] = pair.split('=');
      const isFile = name!.startsWith('file') && (name === 'file') !== path.includes('bulk');
      if (name!.startsWith('file') && !isFile) return '';
      const extra = isFile ? '; filename="a.jpg"\r\nContent-Type: image/jpeg' : '';
      return `--b\r\nContent-Disposition: form-data; name="${name}"${extra}\r\n\r\n${value}\r\n`;
    });
    const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
    const response = await this.service.request({
      method,
      url,
      headers: { 'content-type': 'multipart/form-data; boundary=b', ...authorization, ...headers },
      payload: `${form.join('')}--b--\r\n`,
    });
    return { status: response.statusCode, code: response.json().code as string | undefined, body: response.body };
  }
}

/** Returns a document that selects every field of REST. */
function selectAllFields(kind: string, field: string): string {
  return print(
    buildOperationNodeForField({
      schema: restSchema,
      kind: kind.toLowerCase() as OperationTypeNode,
      field,
      depthLimit: 8,
      circularReferenceDepth: 1,
    }),
  );
}

/** Returns a document that selects the field, with each argument as a variable of its name. */
export function createOperationDocument(kind: string, { name, args }: GraphQLField<unknown, unknown>): string {
  const definitions = args.map((argument) => `$${argument.name}: ${argument.type}`).join(', ');
  const values = args.map((argument) => `${argument.name}: $${argument.name}`).join(', ');
  return `${kind.toLowerCase()} (${definitions}) { ${name}(${values}) { __typename } }`;
}

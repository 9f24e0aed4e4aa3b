import { readFileSync } from 'node:fs';
import { getNamedType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { locateArguments } from '../../src/rest/input.ts';
import { authorizationParameters, REDIRECT_URI, toQuery } from '../oauth/fixtures.ts';
import { BuilderClient } from '../support/builder-client.ts';
import { operations as routes, schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';
import { createSamples, requireSample, type Samples } from '../support/samples.ts';

interface Parameter {
  in: string;
  name: string;
  schema?: { type?: string };
}

interface FormSchema {
  $ref?: string;
  properties?: object;
  oneOf?: FormSchema[];
}

interface Operation {
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { content: Record<string, { schema: FormSchema }> };
}

const document = JSON.parse(readFileSync('schema/openapi.json', 'utf8'));

const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
);

function findQueryParameters({ parameters = [] }: Operation): Parameter[] {
  const resolved = parameters.map((parameter) =>
    '$ref' in parameter ? document.components.parameters[parameter.$ref.split('/').at(-1)!] : parameter,
  ) as Parameter[];
  return resolved.filter((parameter) => parameter.in === 'query');
}

/** Returns the names of the fields of a form, in whichever alternative they are. */
function listFields({ $ref, properties = {}, oneOf = [] }: FormSchema): string[] {
  if ($ref) return listFields(document.components.schemas[$ref.split('/').at(-1)!]);
  return [...new Set([...Object.keys(properties), ...oneOf.flatMap(listFields)])];
}

const findFormFields = ({ requestBody }: Operation, type: string) => listFields(requestBody!.content[type]!.schema);

/** What may follow the name of a parameter. */
const BRACKETS = ['[]', '[0]', '[x]', '[][]', '[', '[0', '%5B%5D'];

/** Parameters of lists that events and deliveries refuse. */
const REFUSED = ['cursor', 'offset', 'updatedSince', 'order'];

const service = useService();
let client: BuilderClient;
let samples: Samples;
let imageUrl: string;
let picture: Buffer;
let uploadUrl: string;

beforeAll(async () => {
  const { builderIds, clientId } = service.findDemoClient('A');
  client = new BuilderClient(service, await service.tokenOf('A'), builderIds[0]!);
  samples = await createSamples(service.databases.au1, client.builderId);
  ({ imageUrl } = await client.createPhoto());
  picture = await createPicture();
  ({ uploadUrl } = await client.presign(picture));
  const register = 'update oauth_client set redirect_uris = array[?] where id = ?';
  await service.databases.au1.fork().execute(register, [REDIRECT_URI, clientId]);
});

const findRoute = (method: string, path: string) =>
  routes.find((route) => route.method.toLowerCase() === method && route.path === path);

const withQuery = operations.filter(({ operation }) => findQueryParameters(operation).length > 0);

describe.each(withQuery.filter(({ method, path }) => findRoute(method, path)))('$method $path', (tested) => {
  const parameters = findQueryParameters(tested.operation);
  const refused = parameters.some(({ name }) => name === 'after')
    ? REFUSED.map((name): Parameter => ({ in: 'query', name }))
    : [];

  it.each([...parameters, ...refused])('does not ignore $name with brackets (LST-10, ERR-7)', async (parameter) => {
    const route = findRoute(tested.method, tested.path)!;
    const types = new Map(locateArguments(route, schema).map(({ name, argument }) => [name, argument.type]));
    const path = route.path.replace(/\{(\w+)\}/g, (_, name) =>
      requireSample(samples, getNamedType(types.get(name)!).name),
    );
    for (const brackets of BRACKETS) {
      const sent = `${parameter.name}${decodeURIComponent(brackets)}`;
      const response = await service.request({
        method: route.method,
        url: `${path}?${parameter.name}${brackets}=%7F`,
        headers: { authorization: `Bearer ${client.token}`, 'x-service-builder-id': client.builderId },
      });
      const fields = response.json().errors?.map(({ fieldName }: { fieldName: string }) => fieldName);
      expect([response.statusCode, fields], sent).toEqual([
        400,
        expect.arrayContaining([parameter.schema?.type === 'array' ? sent : parameter.name]),
      ]);
    }
  });
});

/** Sends a form under a name with brackets, beside a complete form of an upload. */
async function sendMultipart(path: string, name: string) {
  const part = (header: string, content: string | Buffer) =>
    Buffer.concat([
      Buffer.from(`--b\r\nContent-Disposition: form-data; ${header}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ]);
  const payload = Buffer.concat([
    part('name="type:0"', 'attachment'),
    part('name="file:0"; filename="a.jpg"', await createPicture()),
    part(`name="${name}"`, 'attachment'),
    Buffer.from('--b--\r\n'),
  ]);
  return service.request({
    method: 'POST',
    url: path.replace('{builderId}', client.builderId),
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=b' },
    payload,
  });
}

describe.each(operations.filter(({ operation }) => operation.requestBody?.content['multipart/form-data']))(
  '$method $path',
  ({ path, operation }) => {
    it.each(findFormFields(operation, 'multipart/form-data'))(
      'does not ignore %s with brackets (UPL-10)',
      async (name) => {
        for (const brackets of BRACKETS.slice(0, -1)) {
          const response = await sendMultipart(path, `${name}${brackets}`);
          expect([response.statusCode, response.json()]).toEqual([
            400,
            { errors: [{ fieldName: `${name}${brackets}`, message: 'must be named without brackets' }] },
          ]);
        }
      },
    );
  },
);

const FORM = 'application/x-www-form-urlencoded';

describe.each(operations.filter(({ operation }) => operation.requestBody?.content[FORM]))(
  '$method $path',
  ({ path, operation }) => {
    it.each(findFormFields(operation, FORM))('does not ignore %s with brackets (OAU-7)', async (name) => {
      for (const brackets of BRACKETS) {
        const sent = decodeURIComponent(brackets);
        for (const [type, payload] of [
          [FORM, `${name}${brackets}=x`],
          ['application/json', JSON.stringify({ [`${name}${sent}`]: 'x' })],
        ] as const) {
          const response = await service.request({
            method: 'POST',
            url: path,
            headers: { 'content-type': type },
            payload,
          });
          expect([response.statusCode, response.json()]).toEqual([
            400,
            expect.objectContaining({
              error: 'invalid_request',
              error_description: `The parameter ${name} must be named without brackets.`,
            }),
          ]);
        }
      }
    });
  },
);

/** Sends a request of each operation that is not in the schema, with a further parameter. Returns what refuses it. */
const MANUAL: Record<string, (more: string, name: string) => Promise<[actual: unknown, expected: unknown]>> = {
  async 'get /oauth/authorize'(more, name) {
    const query = toQuery(authorizationParameters(service.findDemoClient('A').clientId));
    const { headers, body } = await service.request({ url: `/oauth/authorize?${query}&${more}` });
    const { searchParams } = new URL(headers.location ?? '/', REDIRECT_URI);
    const shown = searchParams.get('error_description') ?? body;
    return [shown, expect.stringContaining(`The parameter ${name} must be named without brackets.`)];
  },
  async 'get /storage/{regionId}/{key}'(more) {
    return [(await client.download(`${imageUrl}&${more}`)).json().code, 'FORBIDDEN'];
  },
  async 'put /storage/{regionId}/{key}'(more) {
    return [(await client.put(`${uploadUrl}&${more}`, picture)).json().code, 'FORBIDDEN'];
  },
};

describe.each(withQuery.filter(({ method, path }) => !findRoute(method, path)))('$method $path', (tested) => {
  it.each(findQueryParameters(tested.operation))(
    'does not ignore $name with brackets (OAU-17, UPL-4)',
    async ({ name }) => {
      for (const brackets of BRACKETS) {
        const [actual, expected] = await MANUAL[`${tested.method} ${tested.path}`]!(`${name}${brackets}=x`, name);
        expect(actual, brackets).toEqual(expected);
      }
    },
  );
});

describe('GET /graphql', () => {
  it.each(['query', 'operationName', 'variables', 'extensions'])(
    'does not ignore %s with brackets (GQL-1)',
    async (name) => {
      for (const brackets of BRACKETS) {
        const url = `/graphql?query=%7Bme%7Bid%7D%7D&${name}${brackets}=x`;
        const response = await service.get(url, client.token);
        expect([response.statusCode, response.json().errors[0].extensions.errors]).toEqual([
          400,
          [{ fieldName: name, message: 'must be named without brackets' }],
        ]);
      }
    },
  );
});

import { readFile } from 'node:fs/promises';
import Fastify from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPostmanCollection } from '../../src/http/documents/build/postman-collection.ts';
import { registerDocs } from '../../src/http/documents/docs.ts';
import { PLACEHOLDER_URL } from '../../src/http/documents/page.ts';

interface Item {
  name: string;
  item?: Item[];
  request: { method: string; url: { path: string[]; host: string[] }; header: { key: string; disabled?: boolean }[] };
}

const document = JSON.parse(await readFile('schema/openapi.json', 'utf8'));

/** Its last character is one that JSON escapes. */
const BASE_URL = 'https://api.builder.test/"';

const listRequests = (items: Item[]): Item[] => items.flatMap((each) => (each.item ? listRequests(each.item) : [each]));

const send = async (production: boolean, baseUrl = BASE_URL) => {
  const app = Fastify();
  await registerDocs(app, { document, baseUrl, production });
  const response = await app.inject('/docs/postman.json');
  await app.close();
  return response;
};

describe('GET /docs/postman.json', () => {
  let requests: Item[];
  let variables: Record<string, string>;

  beforeAll(async () => {
    const { item, variable } = (await send(true)).json();
    requests = listRequests(item);
    variables = Object.fromEntries(variable.map(({ key, value }: { key: string; value: string }) => [key, value]));
  });

  it.each([true, false])('serves a Postman collection to every origin (production: %s)', async (production) => {
    const { statusCode, headers, json } = await send(production);
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(headers).toMatchObject({ 'access-control-allow-origin': '*', etag: expect.any(String) });
    expect(json().info).toMatchObject({
      name: document.info.title,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    });
  });

  it('is that of the OpenAPI document, which always gives the same one (`npm run build`)', async () => {
    expect((await send(true, PLACEHOLDER_URL)).body).toBe(await createPostmanCollection(document));
  });

  it('has one request for each operation of the OpenAPI document, at the address of the service', () => {
    const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
    );
    const found = requests.map(({ request: { method, url } }) => `${method} /${url.path.join('/')}`);
    expect(found.toSorted()).toEqual(described.toSorted());
    expect(new Set(requests.map(({ request }) => request.url.host.join()))).toEqual(new Set(['{{baseUrl}}']));
    expect(variables.baseUrl).toBe(BASE_URL);
  });

  it('has variables for the credentials and for every id of an example', () => {
    expect(variables).toMatchObject({
      clientId: expect.any(String),
      clientSecret: '',
      builderId: expect.stringMatching(/^buil_/),
    });
    const used = new Set([...JSON.stringify(requests).matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name!));
    expect([...used].filter((name) => !(name in variables))).toEqual([]);
    expect(JSON.stringify(requests)).not.toMatch(/_a0mkq3v8t2n4c7x1p9r5w6yzb/);
  });

  it('sends the header of the builder where the path does not name the builder, and no optional parameter', () => {
    const sent = requests.filter(({ request }) =>
      request.header.some(({ key, disabled }) => key === 'X-Service-Builder-Id' && !disabled),
    );
    const paths = sent.map(({ request }) => `/${request.url.path.join('/')}`);
    expect(paths.toSorted()).toEqual(
      [
        '/subcontractors',
        '/timesheets',
        '/timesheets/:timesheetId',
        '/timesheets/cost-codes',
        '/timesheets/time-types',
      ].toSorted(),
    );
    expect(
      requests
        .flatMap(({ request }) => request.header)
        .filter(({ key, disabled }) => /Region|Request-Id/.test(key) && !disabled),
    ).toEqual([]);
  });
});

import { gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { beforeAll, describe, expect, it } from 'vitest';
import { INEXACT_NUMBER } from '../../schema/json-problems.ts';
import { installJsonParser } from '../../src/http/bodies/json.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let token: string;
let url: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  url = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
});

const post = (payload: string | Buffer, type = 'application/json', path = url) =>
  service.request({
    method: 'POST',
    url: path,
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
    payload,
  });

const errorsOf = async (payload: string | Buffer) => {
  const response = await post(payload);
  expect(response.statusCode).toBe(400);
  return response.json().errors as { fieldName: string; message: string }[];
};

describe('a body', () => {
  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=b', 'application/x-www-form-urlencoded'])(
    'with the media type %s is 415 (HDR-2, ERR-16)',
    async (type) => {
      const response = await post('{"title":"Weekly"}', type);
      expect([response.statusCode, response.json().code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    },
  );

  it.each(['gzip', 'br', 'identity, gzip', 'unknown'])('with Content-Encoding %s is 415 (HDR-2)', async (encoding) => {
    const headers = { authorization: `Bearer ${token}`, 'content-encoding': encoding };
    const { builderIds } = service.findDemoClient('A');
    const requests = [
      ['POST', url, 'application/json'],
      ['POST', `/builders/${builderIds[0]}/photo-reports/sync`, 'application/json'],
      ['POST', `/builders/${builderIds[0]}/attachments/upload`, 'multipart/form-data; boundary=b'],
      ['DELETE', `/builders/${builderIds[0]}/photo-gallery/bulk-upsert`, 'application/json'],
      ['POST', '/graphql', 'application/json'],
      ['POST', '/oauth/token', 'application/x-www-form-urlencoded'],
      ['POST', '/oauth/authorize', 'application/x-www-form-urlencoded'],
    ] as const;
    for (const [method, path, type] of requests) {
      const payload = gzipSync('{"title":"Weekly"}');
      const response = await service.request({
        method,
        url: path,
        headers: { ...headers, 'content-type': type },
        payload,
      });
      expect([path, response.statusCode]).toEqual([path, 415]);
    }
  });

  it('may have Content-Encoding identity (HDR-2)', async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-encoding': 'Identity' };
    const response = await service.request({ method: 'POST', url, headers, payload: { title: 'Weekly' } });
    expect(response.statusCode).toBe(201);
  });

  it('is a merge patch with PATCH alone (HDR-2)', async () => {
    const type = 'application/merge-patch+json; charset=utf-8';
    const { id } = (await post('{"title":"Weekly"}')).json();
    const patched = await service.request({
      method: 'PATCH',
      url: `${url}/${id}`,
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      payload: '{"title":"Monthly"}',
    });
    expect([patched.statusCode, patched.json().title]).toEqual([200, 'Monthly']);
    expect((await post('{"title":"Weekly"}', type)).statusCode).toBe(415);
    const path = url.replace('meetings', 'photo-reports/sync');
    expect((await post('{}', type, path)).statusCode).toBe(415);
    const report = { method: 'PATCH', url: path, payload: '{}' } as const;
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    expect((await service.request({ ...report, headers })).statusCode).toBe(400);
  });

  it('that is empty counts as absent: 400 on the required fields (HDR-3)', async () => {
    expect(await errorsOf('')).toEqual([{ fieldName: 'title', message: 'is required' }]);
  });

  it('may begin with a byte order mark (HDR-3)', async () => {
    expect((await post('\ufeff{"title":"Weekly"}')).statusCode).toBe(201);
  });

  it('may have unknown fields (ERR-8)', async () => {
    expect((await post('{"title":"Weekly","colour":"red","nested":{"a":[1]}}')).statusCode).toBe(201);
  });

  it('keeps fields named `__proto__` of free-form objects, and ignores others (ERR-8)', async () => {
    const { id } = (await post('{"title":"Weekly","__proto__":{"a":1}}')).json();
    const block = '{"text":"a","__proto__":{"text":"b","__proto__":[1]}}';
    const note = `{"externalSourceId":"proto","detailBlocks":[${block}],"actionItems":[{"text":"c","__proto__":{"d":1}}]}`;
    const sent = await post(note, 'application/json', `${url}/${id}/notes`);
    expect(sent.statusCode).toBe(201);
    const list = await service.get(`${url}/${id}/notes`, token);
    for (const { body } of [sent, list]) {
      expect(body).toContain(`"detailBlocks":[${block}]`);
      expect(body).toContain('"actionItems":[{"text":"c"}]');
    }
  });

  it('may have unknown fields within an object (ERR-8)', async () => {
    const { id } = (await post('{"title":"Weekly"}')).json();
    const response = await service.request({
      method: 'POST',
      url: `${url}/${id}/notes`,
      headers: { authorization: `Bearer ${token}` },
      payload: { externalSourceId: 'note', actionItems: [{ text: 'Book the crane', colour: 'red' }] },
    });
    expect(response.statusCode).toBe(201);
    expect(response.json().actionItems).toEqual([{ text: 'Book the crane' }]);
  });

  it.each(['{', '{"title":}', "{'title':'a'}", 'title=a', '[] []'])(
    'that is not JSON is 400 on body: %s (ERR-5)',
    async (body) => {
      expect(await errorsOf(body)).toEqual([{ fieldName: 'body', message: 'must be valid JSON' }]);
    },
  );

  it('that is not UTF-8 is 400 on body (ERR-5)', async () => {
    const latin1 = Buffer.from('{"title":"Caf\u00e9"}', 'latin1');
    expect(await errorsOf(latin1)).toEqual([{ fieldName: 'body', message: 'must be UTF-8' }]);
  });

  it.each(['5', 'true', 'null', '["Weekly"]', '{}'])(
    'whose title is %s is 400: values are not converted (ERR-6)',
    async (title) => {
      expect(await errorsOf(`{"title":${title}}`)).toMatchObject([{ fieldName: 'title' }]);
    },
  );

  it.each([
    ['U+0000 in a text', '{"title":"a\\u0000"}', 'title'],
    ['half a surrogate pair in a text', '{"title":"\\ud800"}', 'title'],
    ['U+0000 in an ignored field', '{"title":"a","x":{"y":["\\u0000"]}}', 'x.y[0]'],
    ['U+0000 in a name', '{"title":"a","x":{"\\u0000":1}}', 'x'],
  ])('with %s is 400 on the field (ERR-9)', async (_what, body, fieldName) => {
    expect(await errorsOf(body)).toMatchObject([{ fieldName }]);
  });
});

const namesOf = (errors: { fieldName: string }[]) => errors.map(({ fieldName }) => fieldName);

/** Written with more digits or exponents than they need, or decimals that are rounded. */
const EXACT = ['9007199254740991.0', '90071992547409910e-1', '0.3000000000000000444', '0e-400', '-0.0', '0e999'];

describe('a body with a number that changes when it is read (ERR-27)', () => {
  const inexact = [
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '1e400',
    '1E+17',
    '1e-400',
    '-0.1E-0400',
  ];
  inexact.push('9007199254740991.4', '9007199254740990.6', '0.'.padEnd(400, '0').concat('1'));

  it.each(inexact)('is 400 on its field: %s', async (number) => {
    const bodies = [`{"title":"a","x":{"y":[${number}]}}`, `{"title":"a","agenda":${number}}`];
    expect((await Promise.all(bodies.map((body) => errorsOf(body)))).map(namesOf)).toEqual([['x.y[0]'], ['agenda']]);
    const note = `{"externalSourceId":"n","detailBlocks":[{"a":{"b":${number}}}]}`;
    const response = await post(note, 'application/json', `${url}/meet_none/notes`);
    expect([response.statusCode, response.json().errors]).toEqual([
      400,
      [{ fieldName: 'detailBlocks[0].a.b', message: INEXACT_NUMBER }],
    ]);
  });

  it.each(inexact)('is 400 in variables and literals of GraphQL: %s', async (number) => {
    const sendGraphql = async (blocks: string, variables: string) => {
      const query = `mutation ${blocks === '$d' ? '($d: [JsonObject!])' : ''} { upsertMeetingNote(builderId: "${url.split('/')[2]}", meetingId: "meet_none",
        externalSourceId: "n", detailBlocks: ${blocks}) { id } }`;
      const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
      const { errors, http } = (await post(body, 'application/json', '/graphql')).json().errors[0].extensions;
      return [http.status, errors && namesOf(errors)];
    };
    expect(await sendGraphql('$d', `{"d":[{"a":${number}}]}`)).toEqual([400, ['detailBlocks[0].a']]);
    expect(await sendGraphql(`[{ a: ${number} }]`, '{}')).toEqual([400, ['detailBlocks[0].a']]);
  });

  it.each(['9007199254740991', '-9007199254740991', '1.5e3', '0.1', '5e-324', ...EXACT])(
    'accepts %s',
    async (number) => {
      expect((await post(`{"title":"a","x":${number}}`)).statusCode).toBe(201);
    },
  );
});

describe('variables of GET /graphql (ERR-9, ERR-27)', () => {
  it.each([
    ['{"a":9007199254740993}', 'a'],
    ['{"a":[{"b":1e-400}]}', 'a[0].b'],
    ['{"b":"\\u0000"}', 'b'],
    ['{"a":', 'variables'],
  ])('that change or are not JSON are 400 on their field: %s', async (variables, fieldName) => {
    const response = await service.request({
      method: 'GET',
      url: `/graphql?query=${encodeURIComponent('{ me { id } }')}&variables=${encodeURIComponent(variables)}`,
      headers: { authorization: `Bearer ${token}`, 'apollo-require-preflight': 'true' },
    });
    expect([response.statusCode, namesOf(response.json().errors[0].extensions.errors)]).toEqual([400, [fieldName]]);
  });
});

describe('a body with text that cannot be stored', () => {
  const report = (page: string) =>
    `{"sourceApp":"\\u0000","sourceExternalId":"walk","sourceRevision":0,"sourceCreatedAt":"2026-03-02T07:30:00Z",
      "walkthroughDate":"2026-03-02T07:30:00Z","sourceAuthor":{"externalId":"a","name":"b"},"page":${page}}`;

  it.each([
    [
      'meetings',
      `{"title":"   ","projectId":"q","date":"2025-02-30T00:00:00Z","agenda":4,"notes":"\\u0000","sourceApp":"",
        "externalSourceId":"${'x'.repeat(221)}","colour":["\\ud800"]}`,
      ['title', 'projectId', 'date', 'agenda', 'notes', 'sourceApp', 'externalSourceId', 'colour[0]'],
    ],
    [
      'photo-reports/sync',
      report(`{"schemaVersion":1,"title":"a","contentMetadata":{"a":"\\u0000"},"blocks":[
        {"sourceBlockId":"a","type":"TEXT","properties":{},"richText":[{"text":"\\ud800"}]},
        {"sourceBlockId":"b","type":"Q","properties":{"\\u0000":1}}]}`),
      [
        ...['sourceApp', 'sourceRevision', 'page.contentMetadata.a', 'page.blocks[0].richText[0].text'],
        ...['page.blocks[1].type', 'page.blocks[1].properties'],
      ],
    ],
    [
      'meetings/meet_none/notes',
      `{"externalSourceId":"","detailBlocks":[{"a":1e400,"b":[-1e400]},{"b":"\\ud800"},{"\\u0000":1},{"__proto__":1}],
        "actionItems":[{"text":"a","colour":"\\u0000"},{}]}`,
      [
        ...['externalSourceId', 'detailBlocks[0].a', 'detailBlocks[0].b[0]', 'detailBlocks[1].b', 'detailBlocks[2]'],
        ...['actionItems[1].text', 'actionItems[0].colour'],
      ],
    ],
    ['meetings/meet_none/start', '{"colour":"\\u0000"}', ['colour']],
  ])(
    'is 400 with every field that is wrong: POST /builders/{builderId}/%s (ERR-1, ERR-9)',
    async (path, body, fields) => {
      const response = await post(body, 'application/json', url.replace('meetings', path));
      expect([response.statusCode, namesOf(response.json().errors)]).toEqual([400, fields]);
    },
  );

  it('is 400 with a hundred fields and the beginnings of their long names (ERR-3)', async () => {
    const texts = `"\\u0000",`.repeat(200);
    const errors = await errorsOf(`{"title":5,"${'x'.repeat(10_000)}":[${texts}1]}`);
    expect([errors.length, errors[0]!.fieldName]).toEqual([100, 'title']);
    expect(errors[99]!.fieldName).toBe(`${'x'.repeat(100)}…[98]`);
  });

  it('is 400 before the handler of a route without an operation is called (ERR-9)', async () => {
    const app = Fastify();
    installJsonParser(app);
    app.post('/', () => 'accepted');
    const response = await app.inject({
      method: 'POST',
      url: '/',
      headers: { 'content-type': 'application/json' },
      payload: '{"a":"\\u0000"}',
    });
    expect(response.statusCode).toBe(400);
    expect(response.json().message).toMatch(/^a: must not contain U\+0000/);
  });
});

describe('a GraphQL body with text that cannot be stored', () => {
  const query = `mutation ($b: BuilderId!, $t: MeetingTitle!, $p: ProjectId) {
    createMeeting(builderId: $b, title: $t, projectId: $p) { id } }`;
  const errorsOfGraphql = async (body: string) => {
    const response = await post(body, 'application/json', '/graphql');
    const { http, errors } = response.json().errors[0].extensions;
    expect(http.status).toBe(400);
    return errors && namesOf(errors);
  };

  it.each([
    ['a variable', '{"b":"BUILDER","t":"a\\ud800","p":"q"}', ['title', 'projectId']],
    ['a variable that the operation does not define', '{"b":"BUILDER","t":"a","x":{"y":"\\u0000"}}', ['x.y']],
    ['the name of a variable', '{"t":5,"\\u0000":1}', ['variables']],
  ])('in %s is 400 with the variables that are wrong (ERR-9, ERR-24)', async (_, variables, fields) => {
    const own = variables.replace('BUILDER', url.split('/')[2]!);
    expect(await errorsOfGraphql(`{"query":${JSON.stringify(query)},"variables":${own}}`)).toEqual(fields);
  });

  it.each([
    ['query', `{"query":"{ builders { meta { limit } } } # \\u0000"}`],
    ['operationName', `{"query":"{ builders { meta { limit } } }","operationName":"\\u0000"}`],
    ['extensions.a', `{"query":"{ builders { meta { limit } } }","extensions":{"a":"\\u0000"}}`],
  ])('in %s is 400 (ERR-9)', async (field, body) => {
    expect(await errorsOfGraphql(body)).toEqual([field]);
  });

  it('in a free-form object of the document is 400 with the paths inside it (ERR-2)', async () => {
    const note = `mutation { upsertMeetingNote(builderId: "${url.split('/')[2]}", meetingId: "meet_none", externalSourceId: "n",
      detailBlocks: [{ a: ["\\u0000", { b: "\\u0000" }] }]) { id } }`;
    expect(await errorsOfGraphql(JSON.stringify({ query: note }))).toEqual([
      'detailBlocks[0].a[0]',
      'detailBlocks[0].a[1].b',
    ]);
  });
});

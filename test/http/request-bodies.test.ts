import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';

let service: Service;
let token: string;
let url: string;

beforeAll(async () => {
  service = await startService();
  token = await service.tokenOf('A');
  url = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
});

afterAll(() => service.stop());

const post = (payload: string | Buffer, type = 'application/json') =>
  service.request({
    method: 'POST',
    url,
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

  it('that is empty counts as absent: 400 on the required fields (HDR-3)', async () => {
    expect(await errorsOf('')).toEqual([{ fieldName: 'title', message: 'is required' }]);
  });

  it('may begin with a byte order mark (HDR-3)', async () => {
    expect((await post('\ufeff{"title":"Weekly"}')).statusCode).toBe(201);
  });

  it('may have unknown fields (ERR-8)', async () => {
    expect((await post('{"title":"Weekly","colour":"red","nested":{"a":[1]}}')).statusCode).toBe(201);
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

import { describe, expect, it } from 'vitest';
import { countTokens, MAX_TOKENS, parseJson } from '../../src/http/bodies/json.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';

const service = useService();
const client = useBuilderClient(service, 'A');

const post = (url: string, payload: string) =>
  service.request({
    method: 'POST',
    url,
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'application/json' },
    payload,
  });

/** Returns a JSON array with that number of tokens. */
const createJsonList = (tokens: number) => `[${Array(tokens - 1).fill('0')}]`;

describe('the tokens of a JSON text', () => {
  it.each([
    ['0', 1],
    ['[0,0]', 3],
    ['{"a":0,"b":"c"}', 5],
    ['[]', 2],
    ['{"a":{}}', 4],
    ['["[,:{", "\\",", "\\\\", ","]', 5],
  ])('of %s are %i', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens);
  });

  it('are rejected over the limit, with their count, before the text is parsed', () => {
    const parse = (text: string) => parseJson(text, 10, () => expect.unreachable());
    expect(parse(createJsonList(10))).toHaveLength(9);
    const invalid = createJsonList(11).replace(']', '');
    expect(() => parse(invalid)).toThrow('body: must have at most 10 values and field names in all; it has 11');
  });
});

describe('a body with more tokens than the event loop parses', () => {
  const builder = () => `/builders/${client.builderId}`;
  const tooMany = (extra: string) => `{"ignored":${createJsonList(MAX_TOKENS)}${extra}}`;

  it.each([
    ['a photo bulk upsert', () => `${builder()}/photo-gallery/bulk-upsert`],
    ['a meeting', () => `${builder()}/meetings`],
    ['a meeting note', () => `${builder()}/meetings/meet_a1/notes`],
    ['a sign-on event', () => `${builder()}/projects/proj_a1/sign-on-events`],
  ])('is 400 on body for %s, with the count and the limit (LIM-10)', async (_, url) => {
    const answer = await post(url(), tooMany(''));
    const message = `must have at most ${MAX_TOKENS} values and field names in all; it has ${MAX_TOKENS + 2}`;
    expect([answer.statusCode, answer.json()]).toEqual([400, { errors: [{ fieldName: 'body', message }] }]);
  });

  it('is accepted at the limit', async () => {
    const body = `{"title":"Weekly","ignored":${createJsonList(MAX_TOKENS - 4)}}`;
    expect((await post(`${builder()}/meetings`, body)).statusCode).toBe(201);
  });
});

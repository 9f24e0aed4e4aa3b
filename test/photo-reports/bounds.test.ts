import { describe, expect, it } from 'vitest';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { type Json, page, request } from './documents.ts';

const PATH = '/photo-reports/sync';
/** One code point, two code units. */
const CRANE = '\u{1F3D7}';

const service = useService();
const A = useBuilderClient(service, 'A');

/** A request with the value at that path; `undefined` leaves it out. */
function createRequestWith(path: string, value: unknown): Json {
  const body = request({ page: page() });
  const names = path.split('.');
  const last = names.pop()!;
  const target = names.reduce((object, name) => object[name], body);
  if (value === undefined) delete target[last];
  else target[last] = value;
  return body;
}

const statusOf = async (path: string, value: unknown) => {
  const answer = await A.send('POST', PATH, createRequestWith(path, value));
  if (answer.statusCode === 200) return 200;
  return [answer.statusCode, answer.json().errors?.map(({ fieldName }: Json) => fieldName)];
};

describe.each([
  ['sourceApp', 80, 'required'],
  ['sourceExternalId', 220, 'required'],
  ['sourceAuthor.externalId', 220, 'required'],
  ['sourceAuthor.name', 240, 'required'],
])('%s', (path, max) => {
  it(`has 1 to ${max} code points (PRP-18, PRP-19)`, async () => {
    for (const text of ['a', 'a'.repeat(max - 1), 'a'.repeat(max), CRANE.repeat(max)]) {
      expect(await statusOf(path, text), `${text.length}`).toBe(200);
    }
    for (const text of ['', 'a'.repeat(max + 1), CRANE.repeat(max + 1), `${CRANE.repeat(max)}a`]) {
      expect(await statusOf(path, text), `${text.length}`).toEqual([400, [path]]);
    }
  });

  it('is required, and text', async () => {
    for (const value of [undefined, null, 5, true, [], {}, ['a']]) {
      expect(await statusOf(path, value), JSON.stringify(value)).toEqual([400, [path]]);
    }
  });
});

describe('sourceAuthor.email', () => {
  const ofLength = (length: number) => `a@${'b'.repeat(length - 2)}`;

  it('is an address of at most 320 characters, or null, or absent (PRP-18)', async () => {
    for (const email of [ofLength(3), ofLength(319), ofLength(320), null, undefined]) {
      expect(await statusOf('sourceAuthor.email', email), String(email)).toBe(200);
    }
    for (const email of ['', 'a', 'a@', '@b', 'a b@c', ofLength(321), 5, []]) {
      expect(await statusOf('sourceAuthor.email', email), String(email)).toEqual([400, ['sourceAuthor.email']]);
    }
  });
});

describe('sourceRevision', () => {
  it('is an integer from 1 to 2147483647 (PRP-18)', async () => {
    for (const revision of [1, 2, 2_147_483_646, 2_147_483_647, 1e3]) {
      expect(await statusOf('sourceRevision', revision)).toBe(200);
    }
    for (const revision of [0, -1, 2_147_483_648, 1.5, 1e300, '1', null, true, [1], undefined]) {
      expect(await statusOf('sourceRevision', revision), String(revision)).toEqual([400, ['sourceRevision']]);
    }
  });
});

describe.each(['sourceCreatedAt', 'walkthroughDate'])('%s', (path) => {
  it('is a date-time with a time zone (PRP-19)', async () => {
    for (const at of ['2026-03-02T07:30:00Z', '2026-03-02T07:30:00.123456789+11:00', '2024-02-29T23:59Z']) {
      expect(await statusOf(path, at), at).toBe(200);
    }
    const wrong = ['2026-03-02', '2026-03-02T07:30:00', '2026-02-30T00:00:00Z', '2026-03-02 07:30:00Z', 'now', ''];
    for (const at of [...wrong, 1_767_000_000_000, null, undefined]) {
      expect(await statusOf(path, at), String(at)).toEqual([400, [path]]);
    }
  });
});

describe.each([
  ['mappedAdminUserId', 'user', [400, ['mappedAdminUserId']]],
  ['projectId', 'proj', [404, undefined]],
] as const)('%s', (path, prefix, unknown) => {
  it('has the pattern of the contract; null is none (IDN-4, PRP-20)', async () => {
    for (const id of [null, undefined]) expect(await statusOf(path, id)).toBe(200);
    for (const id of [`${prefix}_ab`, `${prefix}_a1`]) expect(await statusOf(path, id)).toEqual(unknown);
    for (const id of [
      '',
      prefix,
      `${prefix}_`,
      `${prefix}_a`,
      `${prefix}_1a`,
      `${prefix}_aB`,
      `${prefix}_ab\n`,
      'x_ab',
      5,
    ]) {
      expect(await statusOf(path, id), String(id)).toEqual([400, [path]]);
    }
  });
});

describe('sourceAuthor', () => {
  it('is required, and an object', async () => {
    for (const value of [undefined, null, 'Mia', 5, [], [{ externalId: 'a', name: 'b' }]]) {
      const [status, fields] = (await statusOf('sourceAuthor', value)) as [number, string[]];
      expect([status, fields[0]?.startsWith('sourceAuthor')]).toEqual([400, true]);
    }
  });
});

describe('the page', () => {
  it('is required, and an object', async () => {
    for (const value of [undefined, null, 'page', 5, [], [page()]]) {
      expect(await statusOf('page', value), JSON.stringify(value)).toEqual([400, ['page']]);
    }
  });
});

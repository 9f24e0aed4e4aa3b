import { getIntrospectionQuery } from 'graphql';

/** A request that exceeds a limit, and the expected response. */
interface ExcessiveRequest {
  name: string;
  path: string;
  status: number;
  expectedText: RegExp;
  init?: RequestInit;
}

const MEBIBYTE = 1_048_576;
const JSON_TYPE = { 'content-type': 'application/json' };

const graphql = (name: string, query: string, expectedText: RegExp, status = 400): ExcessiveRequest => ({
  ...{ name: `GraphQL: ${name}`, path: '/graphql', status, expectedText },
  init: { method: 'POST', headers: JSON_TYPE, body: JSON.stringify({ query }) },
});

const aliases = (count: number, field: string) =>
  Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');

const nested = (depth: number) => `${'ofType { '.repeat(depth)}name${' }'.repeat(depth)}`;

/** Returns a form with files of the given size in bytes, and with text fields. */
function createForm(files: number, bytes: number, fields = 0): FormData {
  const form = new FormData();
  form.set('type', 'attachment');
  for (let number = 0; number < fields; number++) form.set(`field${number}`, 'x');
  const blob = new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' });
  for (let number = 0; number < files; number++) form.set(`file:${number}`, blob, 'site.jpg');
  return form;
}

/** Returns a request for each limit. */
export function createExcessiveRequests(builderId: string): ExcessiveRequest[] {
  const builder = `/builders/${builderId}`;
  const single = createForm(0, 0);
  single.set('file', new Blob([new Uint8Array(41 * MEBIBYTE)], { type: 'image/jpeg' }), 'site.jpg');
  const post = (body: BodyInit, headers: Record<string, string> = JSON_TYPE): RequestInit => ({
    ...{ method: 'POST', headers, body },
  });
  return [
    graphql(
      'depth',
      `{ __schema { types { ${nested(20)} } } }`,
      /must not nest so many fields: it has 23, and the limit is 20/,
    ),
    graphql('root fields', `{ ${aliases(51, 'me { id }')} }`, /so many root fields: it has 51, and the limit is 50/),
    graphql('aliases', `{ me { ${aliases(2_000, '__typename')} } }`, /5000/),
    graphql('tokens', `{ me { ${'id '.repeat(5_000)} } }`, /5000/),
    graphql('introspection', getIntrospectionQuery(), /introspection/i),
    {
      ...graphql('batching', '', /./),
      init: post(JSON.stringify([{ query: '{ me { id } }' }, { query: '{ me { id } }' }])),
    },
    {
      ...{ name: 'headers of 17 KiB', path: '/builders', status: 431, expectedText: /HEADERS_TOO_LARGE/ },
      init: { headers: { 'x-padding': 'x'.repeat(17_408) } },
    },
    {
      name: 'URL of 17 KiB',
      path: `/builders?x=${'x'.repeat(17_408)}`,
      status: 431,
      expectedText: /HEADERS_TOO_LARGE/,
    },
    {
      ...{
        name: 'body of 1 MiB and a byte',
        path: `${builder}/meetings`,
        status: 413,
        expectedText: /PAYLOAD_TOO_LARGE/,
      },
      init: post(`"${'x'.repeat(MEBIBYTE - 1)}"`),
    },
    {
      ...{ name: 'sync of more than 32 MiB', path: `${builder}/photo-reports/sync`, status: 413 },
      ...{ expectedText: /PAYLOAD_TOO_LARGE/, init: post(`"${'x'.repeat(32 * MEBIBYTE)}"`) },
    },
    {
      ...{ name: 'body 65 levels deep', path: `${builder}/meetings`, status: 400, expectedText: /nest deeper than 64/ },
      init: post(`${'['.repeat(65)}${']'.repeat(65)}`),
    },
    {
      ...{
        name: 'file of 41 MiB',
        path: `${builder}/attachments/upload`,
        status: 413,
        expectedText: /PAYLOAD_TOO_LARGE/,
      },
      init: { method: 'POST', body: single },
    },
    {
      ...{ name: 'form of 26 files', path: `${builder}/attachments/bulk-upload`, status: 400 },
      ...{ expectedText: /one file too many.*at most 25/, init: { method: 'POST', body: createForm(26, 100) } },
    },
    {
      ...{ name: 'form of 70 fields', path: `${builder}/attachments/bulk-upload`, status: 413 },
      ...{ expectedText: /PAYLOAD_TOO_LARGE/, init: { method: 'POST', body: createForm(1, 100, 70) } },
    },
  ];
}

/** Sends the requests. Returns the responses that are not as expected. */
export async function findUnexpectedResponses(
  origin: string,
  token: string,
  list: readonly ExcessiveRequest[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, path, status, expectedText, init } of list) {
    try {
      const headers = { ...(init?.headers as Record<string, string>), authorization: `Bearer ${token}` };
      const send = () => fetch(`${origin}${path}`, { ...init, headers, signal: AbortSignal.timeout(30_000) });
      // The service closes the connection of a rejected body, and a client that still sends it may miss the response.
      const response = await send().catch(send).catch(send);
      const text = await response.text();
      if (response.status !== status || !expectedText.test(text))
        problems.push(`${name}: ${response.status} ${text.slice(0, 200)}`);
    } catch (error) {
      problems.push(`${name}: no answer (${(error as Error).cause ?? error})`);
    }
  }
  return problems;
}

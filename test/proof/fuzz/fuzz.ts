import fc from 'fast-check';
import type { ReceivedResponse } from './contract.ts';
import { FuzzClient, generateRawRequest, type RawRequest } from './fuzz-client.ts';
import type { FuzzFixture, GeneratedRequest } from './fuzz-fixture.ts';
import { generateGraphqlRequest } from './graphql-requests.ts';
import { chance, type Draw } from './random-values.ts';
import { generateRestRequest } from './rest-requests.ts';

interface FuzzOptions {
  requests: number;
  /** The same seed generates the same requests, except for ids and tokens. */
  seed: number;
  /** Concurrent requests. */
  connections: number;
  /** Called between two blocks of requests with the number of requests so far. */
  pause?: (sent: number) => Promise<void>;
}

interface FuzzResult {
  sent: number;
  /** Responses by status. */
  statuses: Record<string, number>;
  /** Numbers of requests to GraphQL, to REST, and of invalid HTTP. */
  graphql: number;
  rest: number;
  raw: number;
  /** Deviations from the document, each kind once, with the request. */
  problems: string[];
}

/** Requests between two calls of `pause`. */
const BLOCK = 500;

/** Text that only internal errors contain: SQL, messages of PostgreSQL, stack traces. */
const INTERNAL_TEXT =
  /syntax error at or near|relation \\?"|column \\?"|violates |duplicate key|invalid input syntax|invalid byte sequence|pg_catalog|node_modules|\bat [\w.<>]+ \(|\.(ts|js):\d+:\d+|\bselect [a-z_]+(\.[a-z_]+)?,|ECONNREFUSED|TypeError|RangeError|Cannot read propert/;

type Request = { kind: 'rest' | 'graphql'; sent: GeneratedRequest } | { kind: 'raw'; sent: RawRequest };

function generateRequest(draw: Draw, fixture: FuzzFixture): Request {
  if (chance(draw, 2)) return { kind: 'raw', sent: generateRawRequest(draw, fixture) };
  if (chance(draw, 30)) return { kind: 'graphql', sent: generateGraphqlRequest(draw, fixture) };
  return { kind: 'rest', sent: generateRestRequest(draw, fixture) };
}

/** Sends generated requests, and checks every response against the OpenAPI document and for internal text. */
export async function fuzz(origin: string, fixture: FuzzFixture, options: FuzzOptions): Promise<FuzzResult> {
  const client = new FuzzClient(origin, options.connections);
  const result: FuzzResult = { sent: 0, statuses: {}, graphql: 0, rest: 0, raw: 0, problems: [] };
  const found = new Map<string, string>();
  try {
    for (let at = 0; at < options.requests; at += BLOCK) {
      const numRuns = Math.min(BLOCK, options.requests - at);
      const block = fc.sample(
        fc.gen().map((draw) => generateRequest(draw, fixture)),
        { seed: options.seed + at, numRuns },
      );
      const queue = block.values();
      const workers = Array.from({ length: options.connections }, async () => {
        for (const request of queue) {
          const violation = await sendAndCheck(client, fixture, request, result);
          result.sent++;
          result[request.kind]++;
          if (violation && !found.has(violation)) found.set(violation, `${violation}: ${formatRequest(request)}`);
        }
      });
      await Promise.all(workers);
      await options.pause?.(result.sent);
    }
  } finally {
    client.close();
  }
  return { ...result, problems: [...found.values()] };
}

/** Sends a request. Returns the violation of its response; null for a valid one. */
async function sendAndCheck(
  client: FuzzClient,
  fixture: FuzzFixture,
  request: Request,
  { statuses }: FuzzResult,
): Promise<string | null> {
  const count = (status: number | string) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  if (request.kind === 'raw') {
    const response = await client.sendBytes(request.sent);
    count(response?.status ?? 'closed');
    if (!response) return null;
    if (response.status >= 500) return `answers ${response.status}`;
    if (/^x-injected:/im.test(response.text.split('\r\n\r\n', 1)[0]!)) return 'carries a header that was injected';
    return INTERNAL_TEXT.test(response.text) ? 'tells of its inside' : null;
  }
  const { sent } = request;
  const response = await client.send(sent);
  count(response?.status ?? 'closed');
  if (!response) return 'gives no answer';
  const internalText =
    sent.method === 'PUT' || sent.url.startsWith('/storage/')
      ? null
      : INTERNAL_TEXT.exec(response.body.toString('utf8'));
  if (internalText) return `tells of its inside (${internalText[0]})`;
  if (request.kind === 'graphql') return findGraphqlViolation(response);
  return fixture.contract.findViolation(sent.method, sent.url, response);
}

/** Checks that every GraphQL error has a code and a status below 500. */
function findGraphqlViolation({ status, body }: ReceivedResponse): string | null {
  if (status >= 500) return `answers ${status}`;
  let value: {
    data?: unknown;
    extensions?: { cost?: unknown };
    errors?: { message: unknown; extensions?: { code?: unknown; http?: { status?: number } } }[];
  };
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return `answers ${status} with a body that is no JSON`;
  }
  const names = Object.keys(value).filter((name) => !['data', 'errors', 'extensions'].includes(name));
  if (names.length > 0) return `answers GraphQL with ${names.join()}`;
  const { cost, ...others } = value.extensions ?? {};
  if (!['number', 'undefined'].includes(typeof cost) || Object.keys(others).length > 0)
    return 'answers GraphQL with other extensions than a cost';
  for (const { message, extensions } of value.errors ?? []) {
    if (typeof message !== 'string' || !/^[A-Z_]+$/.test(String(extensions?.code)))
      return 'answers GraphQL with an error that has no code';
    const { status: own = 500 } = extensions?.http ?? {};
    if (own >= 500) return `answers GraphQL with ${own}`;
  }
  return value.errors || value.data ? null : 'answers GraphQL with nothing';
}

/** Returns the request as text, truncated and without its token. */
function formatRequest(request: Request): string {
  if (request.kind === 'raw') return JSON.stringify(request.sent.bytes.toString('latin1').slice(0, 600));
  const { method, url, headers, body } = request.sent;
  const { Authorization: _, ...others } = headers;
  return `${method} ${url.slice(0, 600)} ${JSON.stringify(others).slice(0, 300)} ${JSON.stringify(body?.toString('utf8').slice(0, 2_500))}`;
}

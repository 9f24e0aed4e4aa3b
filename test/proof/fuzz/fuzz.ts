import fc from 'fast-check';
import type { Answer } from './contract.ts';
import { graphqlRequest } from './graphql.ts';
import { type Bytes, bareRequest, Line } from './line.ts';
import { restRequest } from './rest.ts';
import { chance, type Draw } from './values.ts';
import type { Sent, World } from './world.ts';

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
  /** Answers by their status. */
  statuses: Record<string, number>;
  /** Numbers of requests to GraphQL, to REST, and of invalid HTTP. */
  graphql: number;
  rest: number;
  bare: number;
  /** Deviations from the document, each kind once, with the request. */
  wrong: string[];
}

const BLOCK = 500;

/** Text that only internal errors contain: SQL, messages of PostgreSQL, stack traces. */
const INSIDE =
  /syntax error at or near|relation \\?"|column \\?"|violates |duplicate key|invalid input syntax|invalid byte sequence|pg_catalog|node_modules|\bat [\w.<>]+ \(|\.(ts|js):\d+:\d+|\bselect [a-z_]+(\.[a-z_]+)?,|ECONNREFUSED|TypeError|RangeError|Cannot read propert/;

type Request = { kind: 'rest' | 'graphql'; sent: Sent } | { kind: 'bare'; sent: Bytes };

function requestOf(draw: Draw, world: World): Request {
  if (chance(draw, 2)) return { kind: 'bare', sent: bareRequest(draw, world) };
  if (chance(draw, 30)) return { kind: 'graphql', sent: graphqlRequest(draw, world) };
  return { kind: 'rest', sent: restRequest(draw, world) };
}

/** Sends generated requests, and checks every response against the OpenAPI document and for internal text. */
export async function fuzz(origin: string, world: World, options: FuzzOptions): Promise<FuzzResult> {
  const line = new Line(origin, options.connections);
  const result: FuzzResult = { sent: 0, statuses: {}, graphql: 0, rest: 0, bare: 0, wrong: [] };
  const found = new Map<string, string>();
  try {
    for (let at = 0; at < options.requests; at += BLOCK) {
      const numRuns = Math.min(BLOCK, options.requests - at);
      const block = fc.sample(
        fc.gen().map((draw) => requestOf(draw, world)),
        { seed: options.seed + at, numRuns },
      );
      const rest = block.values();
      const workers = Array.from({ length: options.connections }, async () => {
        for (const request of rest) {
          const violation = await judged(line, world, request, result);
          result.sent++;
          result[request.kind]++;
          if (violation && !found.has(violation)) found.set(violation, `${violation}: ${shown(request)}`);
        }
      });
      await Promise.all(workers);
      await options.pause?.(result.sent);
    }
  } finally {
    line.close();
  }
  return { ...result, wrong: [...found.values()] };
}

async function judged(line: Line, world: World, request: Request, { statuses }: FuzzResult): Promise<string | null> {
  const count = (status: number | string) => {
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  if (request.kind === 'bare') {
    const answer = await line.sendBytes(request.sent);
    count(answer?.status ?? 'closed');
    if (!answer) return null;
    if (answer.status >= 500) return `answers ${answer.status}`;
    if (/^x-injected:/im.test(answer.text.split('\r\n\r\n', 1)[0]!)) return 'carries a header that was injected';
    return INSIDE.test(answer.text) ? 'tells of its inside' : null;
  }
  const { sent } = request;
  const answer = await line.send(sent);
  count(answer?.status ?? 'closed');
  if (!answer) return 'gives no answer';
  const inside =
    sent.method === 'PUT' || sent.url.startsWith('/storage/') ? null : INSIDE.exec(answer.body.toString('utf8'));
  if (inside) return `tells of its inside (${inside[0]})`;
  if (request.kind === 'graphql') return graphqlViolation(answer);
  return world.contract.violation(sent.method, sent.url, answer);
}

/** Checks that every GraphQL error has a code and a status below 500. */
function graphqlViolation({ status, body }: Answer): string | null {
  if (status >= 500) return `answers ${status}`;
  let value: {
    data?: unknown;
    errors?: { message: unknown; extensions?: { code?: unknown; http?: { status?: number } } }[];
  };
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    return `answers ${status} with a body that is no JSON`;
  }
  const names = Object.keys(value).filter((name) => name !== 'data' && name !== 'errors');
  if (names.length > 0) return `answers GraphQL with ${names.join()}`;
  for (const { message, extensions } of value.errors ?? []) {
    if (typeof message !== 'string' || !/^[A-Z_]+$/.test(String(extensions?.code)))
      return 'answers GraphQL with an error that has no code';
    const { status: own = 500 } = extensions?.http ?? {};
    if (own >= 500) return `answers GraphQL with ${own}`;
  }
  return value.errors || value.data ? null : 'answers GraphQL with nothing';
}

/** Returns the request without its token, and truncated. */
function shown(request: Request): string {
  if (request.kind === 'bare') return JSON.stringify(request.sent.bytes.toString('latin1').slice(0, 600));
  const { method, url, headers, body } = request.sent;
  const { Authorization: _, ...others } = headers;
  return `${method} ${url.slice(0, 600)} ${JSON.stringify(others).slice(0, 300)} ${JSON.stringify(body?.toString('utf8').slice(0, 2_500))}`;
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, createClient, fetchExchange, gql } from '@urql/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createConsoleClients } from '../../../src/console/browser/graphql/client.ts';
import { readExportPage } from '../../../src/console/browser/graphql/read-export-page.ts';

/** Responses of the server, in order; afterwards it responds with data. */
let answers: { status: number; headers?: Record<string, string>; body?: object }[];
let requests: number;
let server: Server;
let url: string;
let client: Client;
const QUERY = gql`{ me { id } }`;
const DATA = { me: { __typename: 'Me', id: 'user_1' } };

beforeAll(async () => {
  server = createServer((_, response) => {
    requests++;
    const { status, headers = {}, body = { data: DATA } } = answers.shift() ?? { status: 200 };
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  client = createClient({ url, preferGetMethod: false, exchanges: [fetchExchange] });
});
beforeEach(() => {
  answers = [];
  requests = 0;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const failure = (status: number, code = 'UNAVAILABLE') => ({
  errors: [{ message: 'Not now.', extensions: { code, http: { status } } }],
});

describe('a page of an export', () => {
  it.each([
    ['429', { status: 429, body: failure(429, 'RATE_LIMITED') }],
    ['503', { status: 503, body: failure(503) }],
    ['503 without a body', { status: 503, body: {} }],
  ])('is requested again after %s', async (_title, answer) => {
    answers = [1, 2].map(() => ({ ...answer, headers: { 'Retry-After': '0' } }));
    expect(await readExportPage(client, QUERY, {})).toEqual({ me: { __typename: 'Me', id: 'user_1' } });
    expect(requests).toBe(3);
  });

  it('fails at once where another attempt cannot help', async () => {
    answers = [{ status: 200, body: failure(403, 'FORBIDDEN') }];
    await expect(readExportPage(client, QUERY, {})).rejects.toThrow('Not now.');
    expect(requests).toBe(1);
  });

  it('fails after six attempts', async () => {
    answers = Array.from({ length: 7 }, () => ({ status: 503, body: failure(503), headers: { 'Retry-After': '0' } }));
    await expect(readExportPage(client, QUERY, {})).rejects.toThrow();
    expect(requests).toBe(6);
  });
});

describe('the clients of the console', () => {
  it.each([
    ['cached', 1],
    ['uncached', 3],
  ] as const)('%s: sends %i of three equal queries that a cache could answer', async (name, expected) => {
    const chosen = createConsoleClients('au1')[name];
    for (let query = 0; query < 3; query++) {
      const { data } = await chosen.query(QUERY, {}, { url, requestPolicy: 'cache-first' }).toPromise();
      expect(data).toMatchObject({ me: { id: 'user_1' } });
    }
    expect(requests).toBe(expected);
  });
});

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { discardBody } from '../../src/http/bodies/rejected-bodies.ts';
import { untilClosed } from '../support/until-closed.ts';

const MIB = 1_048_576;
/** More than the buffers of a connection hold. */
const BODY_BYTES = 16 * MIB;
const REQUEST = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`;

let server: Server;
let accepted: Socket[];
let clients: Socket[];

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  accepted = [];
  clients = [];
  server = createServer((request, response) => {
    if (request.method === 'POST') discardBody(request, response, server);
    response.writeHead(413).end();
  });
  server.on('connection', (socket) => accepted.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  for (const client of clients) client.destroy();
  for (const socket of accepted) socket.destroy();
  // The timer of the bodies belongs to the process: it has to end with the clock that it was started with.
  while (vi.getTimerCount() > 0) await vi.advanceTimersByTimeAsync(10);
  vi.useRealTimers();
  server.close();
});

function open(): Socket {
  const { port } = server.address() as AddressInfo;
  const client = connect(port, '127.0.0.1').on('error', () => undefined);
  clients.push(client);
  return client;
}

/** Sends a request and its whole body, and returns its connection once it has the response. */
async function sendRejected(): Promise<Socket> {
  const client = open();
  client.write(REQUEST);
  client.write(Buffer.alloc(BODY_BYTES));
  expect(String(await once(client, 'data'))).toMatch(/^HTTP\/1\.1 413 /);
  return client;
}

/** Requests without a body, whose responses arrive after what the server had to read before them. */
async function exchangeRequests(number: number): Promise<void> {
  const client = open();
  for (let count = 0; count < number; count++) {
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(client, 'data');
  }
  client.destroy();
}

/** Advances the clock by intervals until the condition holds. */
async function advanceUntil(isMet: () => boolean): Promise<void> {
  while (!isMet()) {
    vi.advanceTimersByTime(10);
    await exchangeRequests(2);
  }
}

const countReceived = () => accepted.reduce((sum, { bytesRead }) => sum + bytesRead, 0);

describe('the rest of a rejected body', () => {
  it('is received at a rate that all connections share (LIM-31)', async () => {
    await Promise.all(Array.from({ length: 20 }, sendRejected));
    while (accepted.slice(0, 20).some(({ bytesRead }) => bytesRead < 65_536)) await exchangeRequests(1);
    await exchangeRequests(50);
    const first = countReceived();
    // The first chunk of each, and one that Node reads ahead.
    expect(first).toBeLessThan(20 * 3 * 65_536);
    vi.advanceTimersByTime(10);
    await exchangeRequests(50);
    expect(countReceived() - first).toBeLessThan(10 * 3 * 65_536);
    expect(countReceived()).toBeGreaterThan(first);
  });

  it('is received to its end, after which the connection has its next response (LIM-31)', async () => {
    const client = await sendRejected();
    client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let next = '';
    client.on('data', (text) => {
      next += text;
    });
    await advanceUntil(() => next !== '');
    expect(next).toMatch(/^HTTP\/1\.1 413 /);
    // The end of a body whose last chunk used up its part of an interval is noticed in the next one.
    await advanceUntil(() => vi.getTimerCount() === 0);
    // The time limit of the body does not apply to a later request.
    vi.advanceTimersByTime(31_000);
    expect(accepted[0]!.destroyed).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('closes the connection when it does not end in 30 seconds (LIM-31)', async () => {
    const client = open();
    client.write(`${REQUEST}first bytes`);
    await once(client, 'data');
    vi.advanceTimersByTime(29_000);
    expect(accepted[0]!.destroyed).toBe(false);
    vi.advanceTimersByTime(1_000);
    expect(accepted[0]!.destroyed).toBe(true);
    await untilClosed(client);
  });

  it('whose client goes away leaves no timers (LIM-31)', async () => {
    const client = await sendRejected();
    client.destroy();
    await advanceUntil(() => accepted[0]!.destroyed);
    await advanceUntil(() => vi.getTimerCount() === 0);
    expect(countReceived()).toBeLessThan(BODY_BYTES);
  });
});

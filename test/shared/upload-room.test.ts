import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UploadRoom } from '../../src/http/storage/upload-room.ts';
import type { FairSemaphore } from '../../src/limits/fair-semaphore.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { untilClosed } from '../support/until-closed.ts';

const MIB = 1024 * 1024;

let app: FastifyInstance;
let uploads: FairSemaphore;
let received: number;
let storing: Promise<string>;
let finishStoring: () => void;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  uploads = createFairShares().transfers;
  received = 0;
  storing = new Promise((resolve) => {
    finishStoring = () => resolve('stored');
  });
  app = Fastify({ bodyLimit: 2_000 * MIB });
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  app.post('/', async ({ raw, headers }, reply) => {
    await new UploadRoom(uploads, 'a', reply).reserve(Number(headers['content-length']));
    for await (const chunk of raw) received += chunk.length;
    return storing;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});

afterEach(async () => {
  vi.useRealTimers();
  await app.close();
});

async function upload(length: number): Promise<Socket> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  const headers = ['Host: a', 'Connection: close', 'Content-Type: image/png', `Content-Length: ${length}`];
  socket.write(`POST / HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`);
  await expect.poll(() => uploads.stats().used).toBeGreaterThan(0);
  return socket;
}

/** Sends that many bytes and resolves when the server has received them. */
async function send(socket: Socket, bytes: number): Promise<void> {
  const expected = received + bytes;
  socket.write(Buffer.alloc(bytes));
  await expect.poll(() => received).toBe(expected);
}

describe('an upload that holds room', () => {
  it.each([1, 1_000 * MIB])('of %i bytes is closed when it sends nothing for some seconds (LIM-26)', async (length) => {
    const socket = await upload(length);
    vi.advanceTimersByTime(7_000);
    expect(uploads.stats().used).toBeGreaterThan(0);
    vi.advanceTimersByTime(2_000);
    await untilClosed(socket.resume());
    await expect.poll(() => uploads.stats().used).toBe(0);
  });

  it('must be received as fast as its room requires (LIM-26)', async () => {
    const socket = await upload(90 * MIB);
    // A tenth of the bytes allows for a tenth of 900 seconds.
    await send(socket, 9 * MIB);
    vi.advanceTimersByTime(97_000);
    expect(uploads.stats().used).toBe(90);
    vi.advanceTimersByTime(2_000);
    await untilClosed(socket.resume());
  });

  it('has all the time that storing its bytes takes', async () => {
    const socket = await upload(10);
    const response = text(socket);
    socket.write(Buffer.alloc(10));
    await expect.poll(() => received).toBe(10);
    vi.advanceTimersByTime(600_000);
    finishStoring();
    expect(await response).toContain('stored');
    await expect.poll(() => uploads.stats().used).toBe(0);
  });
});

import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, { type FastifyRequest } from 'fastify';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CHUNKED_BYTES, RequestUsage, sendChunked } from '../../src/auth/request-usage.ts';
import { DocumentStore } from '../../src/graphql/server/document-store.ts';
import { limitConnections } from '../../src/http/limits/connections.ts';
import { addResponseHook } from '../../src/http/request-hooks.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { untilClosed } from '../support/until-closed.ts';

describe('a request of a share that is full', () => {
  it('is rejected with 429 after a delay, while others wait for their turn', async () => {
    const shares = createFairShares();
    const running = Array.from({ length: 32 }, () => new RequestUsage(shares, 'a'));
    for (const usage of running) expect(usage.begin()).toBeUndefined();
    const waiting = Array.from({ length: 256 }, () => new RequestUsage(shares, 'a'));
    const begun = waiting.map((usage) => usage.begin()!);
    for (const one of begun) one.catch(() => undefined);
    // From 250 to 750 ms, at random.
    const random = vi.spyOn(Math, 'random').mockReturnValueOnce(0.9);
    const rejected = new RequestUsage(shares, 'a').begin()!.catch((error) => error);
    expect(new RequestUsage(shares, 'b').begin()).toBeUndefined();
    expect(await Promise.race([rejected, sleep(600)])).toBeUndefined();
    random.mockRestore();
    expect(await rejected).toMatchObject({ status: 429, headers: { 'Retry-After': '1' } });
    for (const usage of running) usage.end();
    await begun[0];
    for (const usage of waiting) usage.end();
  });
});

describe('the slow reads of a share', () => {
  it('run one at a time while others are active, and two where it is alone (LIM-19)', async () => {
    const shares = createFairShares();
    const read = Promise.withResolvers<void>();
    const start = () => new RequestUsage(shares, 'a').runSlowRead(() => read.promise);
    const running = [start(), start(), start()];
    expect(shares.slowReads.stats()).toMatchObject({ used: 2, queued: 1 });
    read.resolve();
    await Promise.all(running);
    const other = new RequestUsage(shares, 'b');
    other.begin();
    const held = Promise.withResolvers<void>();
    const contended = [1, 2].map(() => new RequestUsage(shares, 'a').runSlowRead(() => held.promise));
    expect(shares.slowReads.stats()).toMatchObject({ used: 1, queued: 1 });
    held.resolve();
    await Promise.all(contended);
    other.end();
  });
});

/** Memory that one request with large values counts as, in KiB. */
const LARGE_READ = 48 * 1024;

describe('a write of large values', () => {
  it('waits for another one of its share, until the response of that has ended', async () => {
    const shares = createFairShares();
    const [first, second] = [new RequestUsage(shares, 'a'), new RequestUsage(shares, 'a')];
    await first.acquireLargeWrite(1_000_000);
    const granted = second.acquireLargeWrite(1_000_000);
    expect(shares.memory.stats()).toMatchObject({ used: LARGE_READ, queued: 1 });
    await new RequestUsage(shares, 'b').acquireLargeWrite(1_000_000);
    first.end();
    await granted;
    expect(shares.memory.stats()).toMatchObject({ used: 2 * LARGE_READ, queued: 0 });
  });
});

describe('the memory of large values', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['read', 1_000_000, 40],
    ['write', 250_000, 40],
    ['read', 49_000_000, 1_960],
    ['read', 100_000_000, 2_000],
  ])('is released after a pause in proportion to the bytes: %s of %i, %i ms', async (kind, bytes, milliseconds) => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    if (kind === 'write') await usage.acquireLargeWrite(bytes);
    else {
      await usage.acquireLargeRead();
      usage.countLargeBytes(bytes);
    }
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    usage.end();
    vi.advanceTimersByTime(milliseconds - 1);
    expect(shares.memory.stats().used).toBe(LARGE_READ);
    vi.advanceTimersByTime(1);
    expect(shares.memory.stats().used).toBe(0);
  });

  it("is that of the request's large body where it has one, so that it does not wait for itself", async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    await usage.acquireLargeBody(32 * 1024 * 1024, new AbortController().signal);
    await usage.acquireLargeRead();
    expect(shares.memory.stats().used).toBe(32 * 1024);
    // Its body is no longer needed.
    expect(usage.chargeResponse(64 * 1024 * 1024)).toBeUndefined();
    expect(shares.memory.stats().used).toBe(64 * 1024);
    usage.end();
    expect(shares.memory.stats().used).toBe(0);
  });

  it('does not allow more bytes in all than the limit of the response', () => {
    const usage = new RequestUsage(createFairShares(), 'a');
    usage.meter.limit(10, 1_000);
    usage.countLargeBytes(400);
    usage.countLargeBytes(600);
    expect(() => usage.countLargeBytes(1)).toThrow(expect.objectContaining({ status: 400 }));
  });
});

describe('a response of 16 KiB or more', () => {
  it('holds no permit to execute while its client receives it, and is charged until then', () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    usage.begin();
    expect(usage.chargeResponse(16 * 1024)).toBeUndefined();
    expect(shares.requests.stats().used).toBe(0);
    expect(shares.memory.stats().used).toBe(16);
    usage.end();
    expect(shares.memory.stats().used).toBe(0);
  });

  it('is sent in chunks from 256 KiB on, and charged with all of its bytes', async () => {
    const shares = createFairShares();
    const charged: number[] = [];
    const app = Fastify();
    addResponseHook(app);
    app.addHook('onSend', async () => {
      charged.push(shares.memory.stats().used);
    });
    const body = ['x'.repeat(CHUNKED_BYTES)];
    app.get('/:size', async (request, reply) => {
      request.usage = new RequestUsage(shares, 'a');
      return request.url === '/chunked' ? sendChunked(request, reply, body, CHUNKED_BYTES) : body;
    });
    const chunked = await app.inject('/chunked');
    expect([chunked.json(), chunked.headers['content-length']]).toEqual([body, undefined]);
    expect(charged.splice(0)).toEqual([CHUNKED_BYTES / 1024]);
    const whole = await app.inject('/whole');
    expect(whole.headers['content-length']).toBe(String(CHUNKED_BYTES + 4));
    // Text is charged with its length.
    expect(charged).toEqual([CHUNKED_BYTES / 1024 + 1]);
    await expect.poll(() => shares.memory.stats().used).toBe(0);
    await app.close();
  });
});

describe('a read of large values (LIM-19)', () => {
  it('holds no memory once its response is ready, also when that is small and not yet received', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    await usage.acquireLargeRead();
    usage.end();
    await expect.poll(() => shares.memory.stats().used).toBe(0);
  });

  it('holds its memory until its response is received, and leaves the rest of its share to small responses', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    await usage.acquireLargeRead();
    expect(usage.chargeResponse(64 * 1024 * 1024)).toBeUndefined();
    expect(new RequestUsage(shares, 'a').chargeResponse(200_000)).toBeUndefined();
    // Another one would need as much memory.
    const next = new RequestUsage(shares, 'a').acquireLargeRead();
    expect(shares.memory.stats().queued).toBe(1);
    usage.end();
    await next;
    expect(shares.memory.stats().queued).toBe(0);
  });
});

describe('a response that its client does not receive', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('delays neither small nor large responses of a third share, beside those of two others (LIM-19)', () => {
    const shares = createFairShares();
    const fill = (key: string, bytes: number) => {
      let waiting: Promise<void> | undefined;
      while (!waiting) waiting = new RequestUsage(shares, key).chargeResponse(bytes);
      waiting.catch(() => undefined);
    };
    for (const key of ['a', 'user:a']) for (const bytes of [200_000, 1_000_000]) fill(key, bytes);
    for (const bytes of [20_000, 2_000_000])
      expect(new RequestUsage(shares, 'b').chargeResponse(bytes)).toBeUndefined();
  });

  it.each([
    [25_600, 30_400],
    [2_560_000, 70_000],
  ])(
    'loses its connection where it has %i bytes, after %i ms, although it is received in parts (LIM-27)',
    async (bytes, milliseconds) => {
      const shares = createFairShares();
      const source = new Readable({ read() {} });
      const app = Fastify();
      addResponseHook(app);
      app.get('/', async (request, reply) => {
        request.usage = new RequestUsage(shares, 'a');
        request.usage.streamedBytes = bytes;
        return reply.send(source);
      });
      await app.listen({ host: '127.0.0.1', port: 0 });
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
      socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
      source.push('first');
      await once(socket, 'data');
      vi.advanceTimersByTime(milliseconds - 1);
      source.push('second');
      await once(socket, 'data');
      const closed = untilClosed(socket);
      vi.advanceTimersByTime(1);
      await closed;
      vi.useRealTimers();
      await expect.poll(() => shares.memory.stats().used).toBe(0);
      await app.close();
    },
  );
});

describe('a client that goes away before its response is ready', () => {
  it('uses none of its share afterwards', async () => {
    const shares = createFairShares();
    const app = Fastify();
    addResponseHook(app);
    let hasBegun = false;
    const ready = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    app.get('/:bytes', async (request, reply) => {
      request.usage = new RequestUsage(shares, 'a');
      await request.usage.begin();
      hasBegun = true;
      reply.raw.once('close', () => gone.resolve());
      await ready.promise;
      return 'x'.repeat(Number((request.params as { bytes: string }).bytes));
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /20000 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => hasBegun).toBe(true);
    socket.destroy();
    await gone.promise;
    ready.resolve();
    await expect.poll(() => shares.requests.stats().used).toBe(0);
    expect(shares.memory.stats().used).toBe(0);
    await app.close();
  });
});

function createLimitedServer(handler: RequestListener): Server {
  const server = createServer();
  return server.on('request', limitConnections(server, handler, 60_000));
}

describe('responses of one connection that closes before the first of them is ready', () => {
  it('use none of their share afterwards (LIM-30)', async () => {
    const shares = createFairShares();
    const app = Fastify({ serverFactory: createLimitedServer });
    addResponseHook(app);
    app.get('/:bytes', async (request) => {
      request.usage = new RequestUsage(shares, 'a');
      await request.usage.begin();
      const bytes = Number((request.params as { bytes: string }).bytes);
      return bytes === 0 ? new Promise(() => undefined) : 'x'.repeat(bytes);
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    for (const bytes of [0, 40_000, 300_000]) socket.write(`GET /${bytes} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await expect.poll(() => shares.memory.stats().used).toBe(Math.ceil(40_000 / 1024) + Math.ceil(300_000 / 1024));
    socket.destroy();
    await expect.poll(() => shares.memory.stats().used).toBe(0);
    await app.close();
  });

  it('are closed with their permits where they are more than a connection may have, without a warning of Node (LIM-30)', async () => {
    const warnings = vi.spyOn(process, 'emitWarning');
    const app = Fastify({ serverFactory: createLimitedServer });
    const closed = vi.fn();
    app.get('/', () => new Promise(() => undefined));
    await app.listen({ host: '127.0.0.1', port: 0 });
    // As the timeouts of requests do.
    app.server.on('request', (_request, response) => response.once('close', closed));
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(100));
    await untilClosed(socket);
    // Four, and the one that ends the connection. Node's parser ignores the others.
    await expect.poll(() => closed).toHaveBeenCalledTimes(5);
    expect(warnings).not.toHaveBeenCalled();
    warnings.mockRestore();
    await app.close();
  });
});

describe('a request that occupies the event loop', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('releases its permit when its response is ready, within two seconds', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    await usage.acquireParsingPermit();
    vi.advanceTimersByTime(20_000);
    usage.chargeResponse(100);
    vi.advanceTimersByTime(1_999);
    expect(shares.parsing.stats().used).toBe(1);
    vi.advanceTimersByTime(1);
    expect(shares.parsing.stats().used).toBe(0);
  });

  it('releases its permit after a pause of three times as long', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    vi.advanceTimersByTime(5_000);
    const end = await usage.acquireParsingPermit();
    vi.advanceTimersByTime(100);
    end();
    vi.advanceTimersByTime(299);
    expect(shares.parsing.stats().used).toBe(1);
    vi.advanceTimersByTime(1);
    expect(shares.parsing.stats().used).toBe(0);
  });

  it('is occupied by one new GraphQL document of a share, until it has been validated', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    const documents = new DocumentStore();
    vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
    await documents.admit({ body: { query: '{ nothing }' }, usage } as FastifyRequest);
    expect(shares.parsing.stats().used).toBe(1);
    usage.endOccupation();
    vi.runAllTimers();
    expect(shares.parsing.stats().used).toBe(0);
  });
});

describe('a permit that is granted after the response has ended', () => {
  it('is released at once', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    usage.end();
    usage.onEnd(await shares.graphqlCost.acquire('a', 1_000));
    expect(shares.graphqlCost.stats()).toMatchObject({ used: 0 });
  });
});

describe('a request that receives a multipart form', () => {
  it('holds no permit to execute meanwhile, and acquires one afterwards', async () => {
    const shares = createFairShares();
    const usage = new RequestUsage(shares, 'a');
    usage.begin();
    const used = await usage.runWithReleasablePermit(async (release) => {
      release();
      return shares.requests.stats().used;
    });
    expect(used).toBe(0);
    expect(shares.requests.stats().used).toBe(1);
    usage.end();
    expect(shares.requests.stats().used).toBe(0);
  });
});

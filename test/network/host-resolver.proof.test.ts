import { createSocket, type Socket } from 'node:dgram';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHostResolver, type HostResolver } from '../../src/network/guarded-network.ts';

let server: Socket;
let resolve: HostResolver;
let unanswered = 0;

/** Returns the response to a DNS query: 192.0.2.7 for an A record, otherwise no records; null for names with `silent`. */
function answer(question: Buffer): Buffer | null {
  if (question.includes('silent')) return null;
  const end = question.indexOf(0, 12) + 5;
  const isA = question.readUInt16BE(end - 4) === 1;
  const header = Buffer.from([question[0]!, question[1]!, 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7]);
  return Buffer.concat([header, question.subarray(12, end), ...(isA ? [record] : [])]);
}

beforeAll(async () => {
  server = createSocket('udp4', (question, { port }) => {
    const response = answer(question);
    if (response) server.send(response, port, '127.0.0.1');
    else unanswered++;
  });
  await new Promise<void>((done) => server.bind(0, '127.0.0.1', done));
  resolve = createHostResolver([`127.0.0.1:${(server.address() as AddressInfo).port}`]);
});
afterAll(() => new Promise<void>((done) => server.close(() => done())));

const lookUp = (hostname: string) =>
  new Promise<string[]>((done, fail) =>
    resolve(hostname, { all: true }, (error, addresses) =>
      error ? fail(error) : done(addresses.map(({ address }) => address)),
    ),
  );

describe('the resolver of host names', () => {
  it('delays no name by others whose name server does not respond, and gives those up', async () => {
    const silent = Promise.allSettled(Array.from({ length: 64 }, (_, index) => lookUp(`silent${index}.example`)));
    const order: string[] = [];
    const ended = silent.then(() => order.push('silent'));
    expect(await lookUp('fast.example')).toEqual(['192.0.2.7']);
    order.push('fast');
    await ended;
    expect(order).toEqual(['fast', 'silent']);
    expect(unanswered).toBeGreaterThanOrEqual(64);
    expect(await silent).toEqual(
      Array.from({ length: 64 }, () =>
        expect.objectContaining({ reason: expect.objectContaining({ code: 'ETIMEOUT' }) }),
      ),
    );
  });

  it('finds localhost without a name server', async () => {
    expect(await lookUp('localhost')).toEqual(['127.0.0.1', '::1']);
  });
});

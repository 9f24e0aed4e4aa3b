import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/harness.ts';

const service = useService();
let url: string;
let headers: Record<string, string>;
let path: string;

beforeAll(async () => {
  url = await service.app.listen({ host: '127.0.0.1', port: 0 });
  headers = { authorization: `Bearer ${await service.tokenOf('A')}`, 'content-type': 'application/json' };
  path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
});

const body = Buffer.alloc(1.2 * 1_048_576, ' ');
/** More than the buffers of a connection hold. */
const largeBody = Buffer.alloc(8 * 1_048_576, ' ');
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const send = async (init: RequestInit, target = path) => {
  const response = await fetch(`${url}${target}`, { method: 'POST', headers, ...init });
  return [response.status, ((await response.json()) as { code: string }).code];
};

/** Sends all of the body before it reads, as many clients do. */
async function sendBeforeReading(connection: string): Promise<unknown[]> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const fields = { ...headers, host: 'localhost', connection, 'content-length': largeBody.length };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject).write(largeBody, (error) => (error ? reject(error) : resolve()));
  });
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return [Number(String(answer).split(' ')[1]), /"code":"(\w+)"/.exec(String(answer))?.[1]];
}

describe('a body over the limit', () => {
  const rejected = [413, 'PAYLOAD_TOO_LARGE'];

  it.each<[string, () => Promise<unknown[]>]>([
    ['with a Content-Length', () => send({ body })],
    ['in chunks', () => send({ body: new Blob([body]).stream(), duplex: 'half' } as RequestInit)],
    ['of a form', () => send({ headers: form, body: body.subarray(0, 200_000) }, '/oauth/token')],
  ])('is 413 each of thirty times: %s (LIM-10, LIM-31)', async (_, sendOnce) => {
    for (let sent = 0; sent < 30; sent += 10) {
      expect(await Promise.all(Array.from({ length: 10 }, sendOnce))).toEqual(Array(10).fill(rejected));
    }
  });

  it.each(['keep-alive', 'close'])(
    'is 413 for clients that read when they have sent all: %s (LIM-31)',
    async (connection) => {
      const answers = await Promise.all(Array.from({ length: 10 }, () => sendBeforeReading(connection)));
      expect(answers).toEqual(Array(10).fill(rejected));
    },
  );
});

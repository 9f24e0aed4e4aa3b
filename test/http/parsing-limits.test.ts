import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/harness.ts';
import { untilClosed } from '../support/until-closed.ts';

const service = useService();
let received = 0;

beforeAll(async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  service.app.server.on('request', () => received++);
});

function open(text: string): Socket {
  const { port } = service.app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(text);
  return socket;
}

/** Sends the text and returns what is received until the connection is closed. */
async function exchange(text: string): Promise<string> {
  const socket = open(text);
  let response = '';
  socket.on('data', (chunk) => {
    response += chunk;
  });
  await untilClosed(socket);
  return response;
}

const countRequests = async (text: string) => {
  const before = received;
  const response = await exchange(text);
  return { requests: received - before, response };
};

const CHUNKED = 'Host: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n';
const toChunks = (text: string, size: number) =>
  `${(text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;

/** A request to create a meeting, whose title has that many characters, in chunks of that size. */
async function toMeetingRequest(length: number, size: number): Promise<string> {
  const token = await service.tokenOf('A');
  const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
  const body = toChunks(JSON.stringify({ title: 'Toolbox talk', notes: 'x'.repeat(length) }), size);
  return `POST ${path} HTTP/1.1\r\n${CHUNKED}Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n${body}`;
}

describe('a chunked body', () => {
  it.each([
    ['a hundred chunks of a byte', 60, 1],
    ['many chunks of 64 bytes', 60_000, 64],
  ])('is accepted in %s (LIM-32)', async (_, length, size) => {
    expect(await exchange(await toMeetingRequest(length, size))).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('is 400 in more small chunks, and ends its connection (LIM-32)', async () => {
    const response = await exchange(await toMeetingRequest(2_000, 1));
    expect(response).toMatch(/^HTTP\/1\.1 400 /);
    expect(response).toContain('"fieldName":"body"');
    expect(response.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it('is not processed after that, also where the part that was received is complete (LIM-32)', async () => {
    const url = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
    const authorization = `Bearer ${await service.tokenOf('A')}`;
    const count = async () =>
      (await service.request({ url, headers: { authorization } })).json().meta.totalCount as number;
    const before = await count();
    const head = (await toMeetingRequest(0, 1)).split('\r\n\r\n', 1)[0]!;
    const body = toChunks(`${JSON.stringify({ title: 'Toolbox talk' }).padEnd(101)}garbage`, 1);
    expect(await exchange(`${head}\r\n\r\n${body}`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(await count()).toBe(before);
  });

  // Before the time limit of an idle connection.
  it('is limited also where Transfer-Encoding is the last of too many headers (LIM-32)', {
    timeout: 30_000,
  }, async () => {
    const others = Array.from({ length: 250 }, (_, at) => `x-${at}: 1\r\n`).join('');
    const head = `POST /graphql HTTP/1.1\r\nHost: localhost\r\n${others}Transfer-Encoding: chunked\r\n\r\n`;
    const socket = open(head);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 431 /);
    socket.write('1\r\n \r\n'.repeat(200));
    await untilClosed(socket);
  });

  it('whose chunks have long extensions is 400 (LIM-32)', async () => {
    const head = (await toMeetingRequest(0, 1)).split('\r\n\r\n', 1)[0]!;
    const chunk = `1;${'a'.repeat(15_000)}\r\n \r\n`;
    expect(await exchange(`${head}\r\n\r\n${chunk.repeat(20)}`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('in small chunks after its response ends its connection (LIM-32)', async () => {
    const socket = open(`POST /graphql HTTP/1.1\r\n${CHUNKED}\r\n`);
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 401 /);
    socket.write('1\r\n \r\n'.repeat(200));
    await untilClosed(socket);
  });

  it('of a later connection is received whole, also when the parser of a closed one is used again (LIM-32)', async () => {
    const wrong = await toMeetingRequest(2_000, 1);
    // A CONNECT request behind the chunks would take the parser from the connection.
    for (const end of ['', `${wrong}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`]) await exchange(`${wrong}${end}`);
    for (let count = 0; count < 5; count++) {
      expect(await exchange(await toMeetingRequest(500, 100))).toMatch(/^HTTP\/1\.1 201 /);
    }
  });
});

describe('pipelined requests', () => {
  it('beyond those that are allowed are not processed (LIM-24)', async () => {
    const { requests } = await countRequests('GET /builders HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(500));
    expect(requests).toBeLessThan(10);
  });

  it.each([
    ['without Host', 'GET /builders HTTP/1.1\r\n\r\n', 400],
    ['with an unknown Expect', 'GET /builders HTTP/1.1\r\nHost: localhost\r\nExpect: x\r\n\r\n', 401],
  ])('%s are limited like others, and answered as documented (LIM-24)', async (_, request, status) => {
    const { requests } = await countRequests(request.repeat(500));
    expect(requests).toBeLessThan(10);
    const single = await exchange(request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(single).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(single.toLowerCase()).toContain('x-request-id: ');
  });
});

describe('a path with percent signs', () => {
  it.each(['/%zz', `/${'%zz'.repeat(2_000)}`, `/builders/${'%41'.repeat(2_000)}`])(
    'that no operation has is 404, whatever its length (ERR-13)',
    async (path) => {
      const response = await service.request({
        url: path,
        headers: { authorization: `Bearer ${await service.tokenOf('A')}` },
      });
      expect(response.statusCode).toBe(404);
    },
  );
});

describe('headers', () => {
  it('are at most two hundred: more is 431 (LIM-32)', async () => {
    const token = await service.tokenOf('A');
    const send = (others: number) =>
      exchange(
        `GET /builders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${Array.from({ length: others }, (__, at) => `x-${at}: 1\r\n`).join('')}Authorization: Bearer ${token}\r\n\r\n`,
      );
    expect(await send(150)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await send(198)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await send(300)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

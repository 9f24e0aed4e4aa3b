import { type Attack, type AttackSession, get } from '../attack.ts';

/** Requests of raw connections: each connection sends a head, then the same bytes again and again, and is opened again when it is closed. */
interface RawRequests {
  connections: number;
  head: (number: number) => string;
  piece: Buffer;
  /** Pieces of one body, and its end, after which the next head follows; absent for a body without end. */
  body?: { pieces: number; end: string };
}

async function sendRaw(session: AttackSession, { connections, head, piece, body }: RawRequests): Promise<void> {
  let number = 0;
  const open = () => {
    if (session.isOver) return;
    const socket = session.openSocket(head(number++));
    let sent = 0;
    const send = () => {
      while (!session.isOver && !socket.destroyed) {
        if (body && sent === body.pieces) {
          sent = 0;
          if (!socket.write(body.end + head(number++))) return;
        }
        sent++;
        if (!socket.write(piece)) return;
      }
    };
    socket.on('drain', send);
    socket.once('connect', send);
    socket.on('data', (text) => {
      const status = /HTTP\/1\.1 (\d+)/.exec(text.toString('latin1'));
      if (status) session.count(status[1]!);
    });
    socket.on('close', () => setTimeout(open, 10));
  };
  for (let at = 0; at < connections; at++) open();
  await session.waitForEnd();
}

/** Returns the head of a request with a chunked body. */
function toChunkedHead(session: AttackSession, number: number, path: string, type: string, hasToken: boolean): string {
  const { headers } = get(session.attacker, number, path);
  const all = { host: 'localhost', ...(hasToken && headers), 'content-type': type, 'transfer-encoding': 'chunked' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const ONE_BYTE_CHUNKS = Buffer.from('1\r\n \r\n'.repeat(40_000));

const rejectedBodies = (connections: number, piece: Buffer) => (session: AttackSession) =>
  sendRaw(session, {
    ...{ connections, piece },
    head: (number) => toChunkedHead(session, number, '/graphql', 'application/json', false),
  });

const pipelined = (connections: number, request: string, times: number) => (session: AttackSession) =>
  sendRaw(session, { connections, head: () => '', piece: Buffer.from(request.repeat(times)) });

const MANY_HEADERS = Array.from({ length: 1_990 }, (_, at) => `${at.toString(36)}:\r\n`).join('');

/** Requests whose framing costs more than their content. */
export const framingAttacks: Attack[] = [
  {
    ...{ name: 'framing-chunks-rejected', short: true },
    about: 'Bodies of chunks of one byte, without a token, 64 connections',
    run: rejectedBodies(64, ONE_BYTE_CHUNKS),
  },
  {
    name: 'framing-chunks-few',
    about: 'The same over 4 connections',
    run: rejectedBodies(4, ONE_BYTE_CHUNKS),
  },
  {
    name: 'framing-chunks-many',
    about: 'The same over 2,000 connections',
    run: rejectedBodies(2_000, ONE_BYTE_CHUNKS),
  },
  {
    name: 'framing-chunks',
    about: 'Bodies of 1 MiB in chunks of one byte, 16 connections',
    run: (session) => {
      const path = `/builders/${session.attacker.builderId}/meetings`;
      return sendRaw(session, {
        ...{ connections: 16, piece: ONE_BYTE_CHUNKS, body: { pieces: 26, end: '0\r\n\r\n' } },
        head: (number) => toChunkedHead(session, number, path, 'application/json', true),
      });
    },
  },
  {
    name: 'framing-chunks-allowed',
    about: 'Requests without a token, each with a body of 100 chunks of one byte, 64 connections',
    run: pipelined(
      64,
      `POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(100)}0\r\n\r\n`,
      3,
    ),
  },
  {
    name: 'framing-chunks-form',
    about: 'Files of forms in chunks of one byte, 16 connections',
    run: (session) => {
      const path = `/builders/${session.attacker.builderId}/attachments/upload`;
      const start =
        '--b\r\ncontent-disposition: form-data; name="file"; filename="a.jpg"\r\ncontent-type: image/jpeg\r\n\r\n';
      return sendRaw(session, {
        ...{ connections: 16, piece: ONE_BYTE_CHUNKS },
        head: (number) =>
          `${toChunkedHead(session, number, path, 'multipart/form-data; boundary=b', true)}${start.length.toString(16)}\r\n${start}\r\n`,
      });
    },
  },
  {
    name: 'framing-extensions',
    about: 'Bodies of chunks of one byte with extensions of 15 KB, without a token, 64 connections',
    run: rejectedBodies(64, Buffer.from(`1;${'a'.repeat(15_000)}\r\n \r\n`.repeat(10))),
  },
  {
    name: 'framing-expect',
    about: 'Pipelined requests with an unknown `Expect`, 64 connections',
    run: pipelined(64, 'GET / HTTP/1.1\r\nHost:a\r\nExpect:x\r\n\r\n', 2_000),
  },
  {
    name: 'framing-host',
    about: 'Pipelined requests without `Host`, 64 connections',
    run: pipelined(64, 'GET / HTTP/1.1\r\n\r\n', 2_000),
  },
  {
    name: 'framing-pipelined',
    about: 'Thousands of pipelined requests on each of 64 connections, which are opened again when closed',
    run: pipelined(64, 'GET / HTTP/1.1\r\nHost:a\r\n\r\n', 2_000),
  },
  {
    name: 'framing-headers',
    about: 'Requests with 1,990 headers, without a token, 512 connections',
    run: async (session) => {
      const text = `GET / HTTP/1.1\r\nHost:a\r\n${MANY_HEADERS}\r\n`;
      const open = () => {
        if (session.isOver) return;
        const socket = session.openSocket(text);
        socket.on('data', (response) => {
          session.count(response.toString('latin1', 9, 12));
          socket.write(text);
        });
        socket.on('close', () => setTimeout(open, 10));
      };
      for (let at = 0; at < 512; at++) open();
      await session.waitForEnd();
    },
  },
  {
    name: 'framing-paths',
    about: 'Paths of 15 KB of invalid percent signs, 4 pipelined on each of 256 connections',
    run: pipelined(256, `GET /${'%zz'.repeat(5_000)} HTTP/1.1\r\nHost:a\r\n\r\n`, 4),
  },
];

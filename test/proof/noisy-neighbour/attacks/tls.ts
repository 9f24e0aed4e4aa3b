import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { TLS_SETTINGS } from '../../../support/tls-certificate.ts';
import { type Attack, type AttackSession, post } from '../attack.ts';

/** Returns the first message of a handshake. A server answers it as often as it is sent. */
async function createClientHello(): Promise<Buffer> {
  const written: Buffer[] = [];
  const stream = new Duplex({
    read: () => undefined,
    write: (chunk, _encoding, done) => {
      written.push(chunk);
      done();
    },
  });
  const client = connect({ socket: stream, rejectUnauthorized: false }).on('error', () => undefined);
  while (written.length === 0) await sleep(1);
  client.destroy();
  return Buffer.concat(written);
}

interface Handshakes {
  connections: number;
  /** Network addresses that the connections are opened from. */
  addresses: number;
  /** Bytes of the first message that are sent at first: the rest follows on all connections together. */
  first: number;
}

/** Begins handshakes on all connections together, and opens the connections again. */
async function beginTogether(session: AttackSession, { connections, addresses, first }: Handshakes): Promise<void> {
  const hello = await createClientHello();
  while (!session.isOver) {
    const sockets: Socket[] = [];
    for (let at = 0; at < connections; at++) {
      const socket = session.openSocket('', `127.0.9.${1 + (at % addresses)}`);
      socket.once('connect', () => socket.write(hello.subarray(0, first)));
      socket.once('data', () => session.count('answered'));
      sockets.push(socket);
    }
    await sleep(1_000);
    for (const socket of sockets) socket.write(hello.subarray(first));
    await sleep(1_000);
    for (const socket of sockets) socket.destroy();
  }
}

/** Sends the head, then the piece again and again, each time in a record of its own. */
async function sendRecords(session: AttackSession, connections: number, head: string, piece: string): Promise<void> {
  const open = () => {
    if (session.isOver) return;
    const raw = session.openSocket('');
    const socket: TLSSocket = connect({ socket: raw, rejectUnauthorized: false });
    let sent = 0;
    // Node joins what is written before the record before has been sent.
    const send = () => {
      if (session.isOver || socket.destroyed) return;
      // Otherwise the other connections would wait as long as the system takes what is written.
      if (++sent % 100 === 0) setImmediate(() => socket.write(piece, send));
      else socket.write(piece, send);
    };
    socket.once('secureConnect', () => {
      socket.write(head);
      send();
    });
    socket.on('data', (text) => session.count(text.toString('latin1', 9, 12)));
    socket.on('error', () => undefined);
    socket.once('close', () => setTimeout(open, 10));
  };
  for (let at = 0; at < connections; at++) open();
  await session.waitForEnd();
}

/** Attacks on a service that has a certificate of its own and no proxy. */
export const tlsAttacks: Attack[] = [
  {
    ...{ name: 'tls-handshakes', settings: TLS_SETTINGS },
    about: 'TLS without a proxy: 2,000 connections begin a handshake together (RSA, 2,048 bits)',
    run: (session) => beginTogether(session, { connections: 2_000, addresses: 1, first: 0 }),
  },
  {
    ...{ name: 'tls-handshakes-split', settings: TLS_SETTINGS },
    about: 'TLS: 2,000 handshakes of 16 addresses that stop after a byte and go on together',
    run: (session) => beginTogether(session, { connections: 2_000, addresses: 16, first: 1 }),
  },
  {
    ...{ name: 'tls-records-body', settings: TLS_SETTINGS },
    about: 'TLS: bodies of 1 MB in records of 32 bytes, 64 connections',
    run: (session) => {
      const { path, headers } = post(session.attacker, 0, `/builders/${session.attacker.builderId}/meetings`, '');
      const lines = Object.entries({ host: 'localhost', ...headers, 'content-length': 1_000_000 });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      return sendRecords(session, 64, `POST ${path} HTTP/1.1\r\n${head}\r\n`, ' '.repeat(32));
    },
  },
  {
    ...{ name: 'tls-records-headers', settings: TLS_SETTINGS },
    about: 'TLS: headers in records of one byte, 64 connections',
    run: (session) => sendRecords(session, 64, 'GET / HTTP/1.1\r\n', 'a'),
  },
];

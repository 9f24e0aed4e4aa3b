import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { type Attack, type AttackSession, get, post } from '../attack.ts';

/** Maximum endpoints of an integrator in a region. */
const ENDPOINTS = 20;

const PATH = '/webhook-endpoints';

/** Production delivers to https: and public addresses only. */
const SETTINGS = { NODE_ENV: 'development', WORKERS: '2', MIGRATE: 'check', DRAIN_SECONDS: '0' };

/** Delivers all earlier events again, to as many endpoints as there may be, all of the receiver. */
async function replayTo(session: AttackSession, receiver: Server): Promise<void> {
  const { attacker, scenario } = session;
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const { port } = receiver.address() as AddressInfo;
  const client = session.client(4, 100_000);
  // Endpoints of an earlier round still exist.
  const { body } = await session.send(client, get(attacker, 0, PATH));
  for (const [number, { id }] of JSON.parse(body).data.entries()) {
    await session.send(client, { ...get(attacker, number, `${PATH}/${id}`), method: 'DELETE' });
  }
  for (let number = 0; number < ENDPOINTS; number++) {
    const url = `http://127.0.0.1:${port}/${number}`;
    const created = await session.send(client, post(attacker, number, PATH, { url }));
    const { id } = JSON.parse(created.body);
    const replay = { after: scenario.eventCursor };
    await session.send(client, post(attacker, number, `${PATH}/${id}/replay`, replay));
  }
  await session.waitForEnd();
  receiver.close();
}

/** Returns a receiver whose responses begin with the first text and continue with the second without end. */
function createEndlessReceiver(session: AttackSession, beginning: string, continuation: string): Server {
  const piece = Buffer.from(continuation);
  return createTcpServer((socket) => {
    session.count('connected');
    socket.on('error', () => undefined);
    socket.write(beginning);
    const send = () => {
      while (!session.isOver && !socket.destroyed && socket.write(piece));
    };
    socket.on('drain', send);
    socket.once('data', send);
    socket.resume();
  });
}

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

export const webhookAttacks: Attack[] = [
  {
    name: 'webhook-deliveries',
    about: 'Twenty webhook endpoints of one integrator that are sent all earlier events again, and take them at once',
    settings: SETTINGS,
    run: (session) => {
      const receiver = createServer((request, response) => {
        request.resume();
        session.count('delivered');
        response.writeHead(204).end();
      });
      return replayTo(session, receiver);
    },
  },
  {
    name: 'webhook-informational',
    about: 'The same endpoints, which answer with `103` without end',
    settings: SETTINGS,
    run: (session) => replayTo(session, createEndlessReceiver(session, '', 'HTTP/1.1 103 x\r\n\r\n'.repeat(4_000))),
  },
  {
    name: 'webhook-chunks',
    about: 'The same endpoints, which answer in chunks of one byte without end',
    settings: SETTINGS,
    run: (session) => replayTo(session, createEndlessReceiver(session, CHUNKED, '1\r\n \r\n'.repeat(10_000))),
  },
  {
    name: 'webhook-extensions',
    about: 'The same endpoints, which answer in chunks of one byte with extensions of 15 KB without end',
    settings: SETTINGS,
    run: (session) =>
      replayTo(session, createEndlessReceiver(session, CHUNKED, `1;${'a'.repeat(15_000)}\r\n \r\n`.repeat(5))),
  },
];

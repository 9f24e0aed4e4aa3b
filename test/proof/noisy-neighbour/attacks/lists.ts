import { type Attack, aliases, get, graphql, post } from '../attack.ts';

export const listAttacks: Attack[] = [
  {
    ...{ name: 'lists-interpreted', finding: '3a', short: true },
    about: '25 meetings with notes of 1 MB: ten requests at once of five aliases of `meetings { data { id } }`',
    run: (session) => {
      const { attacker } = session;
      const field = `meetings(builderId: "${attacker.builderId}", projectId: "${attacker.largeProjectId}") { data { id } }`;
      const query = `{ ${aliases(5, field)} }`;
      return session.flood(10, (number) => graphql(attacker, number, query));
    },
  },
  {
    ...{ name: 'lists-large', finding: '3b', short: true },
    about: '25 meetings with notes of 1 MB: twenty list requests at once',
    run: (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/meetings?projectId=${attacker.largeProjectId}`;
      return session.flood(20, (number) => get(attacker, number, path));
    },
  },
  {
    name: 'lists-escaped',
    about: '25 meetings with notes that take 6 MB each as JSON (150 MB per page): ten list requests at once',
    run: (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/meetings?projectId=${attacker.escapedProjectId}`;
      return session.flood(10, (number) => get(attacker, number, path));
    },
  },
  {
    name: 'lists-unread',
    about: 'Forty clients that do not read their pages of 25 MB',
    run: async (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/meetings?projectId=${attacker.largeProjectId}`;
      for (let at = 0; at < 40; at++) {
        const { headers } = get(attacker, at, path);
        const lines = Object.entries(headers!).map(([name, value]) => `${name}: ${value}\r\n`);
        session.openSocket(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${lines.join('')}\r\n`).pause();
        session.count('sent');
      }
      await session.waitForEnd();
    },
  },
  {
    ...{ name: 'lists-deep', short: true },
    about: 'Pages in the middle of a large list of timesheets, with and without filters, 64 connections',
    run: (session) => {
      const { attacker, scenario } = session;
      return session.flood(64, (number) => {
        const offset = Math.floor(scenario.timesheets / 2) - 25 * (number % 200);
        const filter = number % 2 ? '&status=APPROVED_1' : '';
        return get(attacker, number, `/timesheets?offset=${filter ? offset >> 2 : offset}${filter}`);
      });
    },
  },
  {
    name: 'lists-dates',
    about: 'Pages of a date range of years, whose total is counted, 64 connections',
    run: (session) => {
      const { attacker } = session;
      return session.flood(64, (number) => {
        const day = String((number % 27) + 1).padStart(2, '0');
        const status = number % 2 ? '&status=REJECTED' : '';
        return get(
          attacker,
          number,
          `/timesheets?startDate=2025-01-${day}&endDate=2029-12-31${status}&offset=${number % 500}`,
        );
      });
    },
  },
  {
    name: 'lists-deep-graphql',
    about: 'GraphQL: the middle of the large list under 40 aliases, each at another offset, 16 connections',
    run: (session) => {
      const { attacker, scenario } = session;
      return session.flood(16, (number) => {
        const half = Math.floor(scenario.timesheets / 2);
        const field = (at: number) =>
          `a${at}: timesheets(builderId: "${attacker.builderId}", startDate: "2025-01-0${(at % 9) + 1}", offset: ${half - number - at}) {
            meta { totalCount } data { id } }`;
        return graphql(attacker, number, `{ ${Array.from({ length: 40 }, (_, at) => field(at)).join(' ')} }`);
      });
    },
  },
  {
    name: 'updated-since',
    about: 'GraphQL: all records of the large list as changed, under 40 aliases without their total, 16 connections',
    run: (session) => {
      const { attacker } = session;
      return session.flood(16, (number) => {
        const field = (at: number) => {
          const since = new Date(Date.UTC(2000, 0, 1, 0, number, at)).toISOString();
          return `a${at}: timesheets(builderId: "${attacker.builderId}", updatedSince: "${since}", limit: 1) { data { id } }`;
        };
        return graphql(attacker, number, `{ ${Array.from({ length: 40 }, (_, at) => field(at)).join(' ')} }`);
      });
    },
  },
  {
    name: 'lists-notes',
    about: 'Synced notes of one meeting: 1 MB each, in parallel, then lists of them',
    run: async (session) => {
      const { attacker } = session;
      const path = `/builders/${attacker.builderId}/meetings/${attacker.notesMeetingId}/notes`;
      const block = { text: 'x'.repeat(900_000) };
      await session.flood(24, (number) => {
        if (number % 3 === 0) return get(attacker, number, path);
        // This detail block has none of the texts that are copied to the meeting, so that the limit of its notes is not reached.
        return post(attacker, number, path, {
          externalSourceId: `note-${number % 60}`,
          detailBlocks: [{ other: block.text }],
        });
      });
    },
  },
];

import { type Attack, type AttackSession, clientAt, get, post } from '../attack.ts';
import type { HttpRequest } from '../http-client.ts';

const PROTOCOL = '2025-11-25';

/** Returns a call of a tool, as a client of the protocol sends it. */
function callTool({ attacker }: AttackSession, number: number, name: string, args: object): HttpRequest {
  const message = { jsonrpc: '2.0', id: number, method: 'tools/call', params: { name, arguments: args } };
  const request = post(attacker, number, '/mcp', message);
  const authorization = `Bearer ${clientAt(attacker, number).toolToken}`;
  const accept = 'application/json, text/event-stream';
  return { ...request, headers: { ...request.headers, authorization, accept, 'mcp-protocol-version': PROTOCOL } };
}

export const toolAttacks: Attack[] = [
  {
    name: 'tools-lists',
    about: 'Tools: pages of meetings with notes of 1 MB and of a large list of timesheets, 64 connections',
    run: (session) => {
      const { builderId, largeProjectId } = session.attacker;
      return session.flood(64, (number) =>
        number % 2
          ? callTool(session, number, 'list_meetings', { builderId, projectId: largeProjectId })
          : callTool(session, number, 'list_timesheets', { builderId, offset: 100 * (number % 1_000) }),
      );
    },
  },
  {
    name: 'tools-names',
    about: 'Tools: the list of all tools and calls of unknown ones, 64 connections',
    run: (session) =>
      session.flood(64, (number) => {
        if (number % 2) return callTool(session, number, `tool_${number}`, { text: 'x'.repeat(10_000) });
        const request = callTool(session, number, '', {});
        return { ...request, body: JSON.stringify({ jsonrpc: '2.0', id: number, method: 'tools/list', params: {} }) };
      }),
  },
  {
    name: 'snapshots',
    about: 'Snapshots of all records of two builders, 300,000 timesheets in one of them, 16 connections',
    run: async (session) => {
      const create = async (at: number) => {
        const attacker = session.scenario.attackers[at]!;
        await session.flood(8, (number) =>
          number % 2
            ? get(attacker, number, '/snapshots')
            : post(attacker, number, '/snapshots', { builderId: attacker.builderId }),
        );
      };
      await Promise.all([create(0), create(1)]);
    },
  },
];

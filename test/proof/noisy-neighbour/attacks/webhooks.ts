import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Attack, get, post } from '../attack.ts';

/** Maximum endpoints of an integrator in a region. */
const ENDPOINTS = 20;

const PATH = '/webhook-endpoints';

export const webhookAttacks: Attack[] = [
  {
    name: 'webhook-deliveries',
    about: 'Twenty webhook endpoints of one integrator that are sent all earlier events again, and take them at once',
    // Production delivers to https: and public addresses only.
    settings: { NODE_ENV: 'development', SUPERVISE: '1', STANDBY: '1', MIGRATE: 'check', DRAIN_SECONDS: '0' },
    run: async (session) => {
      const { attacker, scenario } = session;
      const receiver = createServer((request, response) => {
        request.resume();
        session.count('delivered');
        response.writeHead(204).end();
      }).listen(0, '127.0.0.1');
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
      receiver.closeAllConnections();
      receiver.close();
    },
  },
];

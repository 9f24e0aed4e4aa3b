import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createExcessiveRequests, findUnexpectedResponses } from '../proof/excessive-requests.ts';
import { type Service, startService } from '../support/harness.ts';

let service: Service;

beforeAll(async () => {
  service = await startService({ GRAPHQL_INTROSPECTION: '0' });
  await service.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(() => service.stop());

it('refuses what passes a limit, in words, while the client is still sending (ERR-16, LIM-10, LIM-12)', async () => {
  const { port } = service.app.server.address() as AddressInfo;
  const list = createExcessiveRequests(service.findDemoClient('A').builderIds[0]!);
  expect(await findUnexpectedResponses(`http://127.0.0.1:${port}`, await service.tokenOf('A'), list)).toEqual([]);
});

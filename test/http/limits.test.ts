import type { AddressInfo } from 'node:net';
import { beforeAll, expect, it } from 'vitest';
import { createExcessiveRequests, findUnexpectedResponses } from '../proof/excessive-requests.ts';
import { useService } from '../support/harness.ts';

const service = useService({ GRAPHQL_INTROSPECTION: '0' });

beforeAll(async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 });
});

it('refuses what passes a limit, in words, while the client is still sending (ERR-16, LIM-10, LIM-12)', async () => {
  const { port } = service.app.server.address() as AddressInfo;
  const list = createExcessiveRequests(service.findDemoClient('A').builderIds[0]!);
  expect(await findUnexpectedResponses(`http://127.0.0.1:${port}`, await service.tokenOf('A'), list)).toEqual([]);
});

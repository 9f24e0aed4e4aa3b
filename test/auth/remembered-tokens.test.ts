import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

it('a token that was used before is refused from the instant of its expiry on', async () => {
  const token = await service.as('A');
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
  const statusAt = async (instant: number) => {
    service.clock.advance(instant - service.clock.now());
    return (await service.get('/builders', token)).statusCode;
  };
  expect(await statusAt(exp * 1000 - 1)).toBe(200);
  expect(await statusAt(exp * 1000)).toBe(401);
});

it('the builder header of a token of one builder may name that builder alone (HDR-12)', async () => {
  const { clientId, builderIds } = service.demo('A');
  const user = service.demoUser(({ builderIds: ids }) => ids.includes(builderIds[0]!));
  const [builderId, otherId] = builderIds;
  const token = await service.token({ clientId, scope: 'read:builders', userId: user.id, builderId });
  const statusWith = async (id: string) =>
    (await service.get('/builders', token, { 'x-service-builder-id': id })).statusCode;
  expect(await statusWith(builderId!)).toBe(200);
  expect(await statusWith(otherId!)).toBe(403);
});

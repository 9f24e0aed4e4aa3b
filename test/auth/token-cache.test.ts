import { describe, expect, it } from 'vitest';
import { AccessTokenVerifier } from '../../src/auth/access-token-verifier.ts';
import { useService } from '../support/harness.ts';

const service = useService();

it('a token that was used before is refused from the instant of its expiry on', async () => {
  const token = await service.tokenOf('A');
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
  const statusAt = async (instant: number) => {
    service.clock.advance(instant - service.clock.now());
    return (await service.get('/builders', token)).statusCode;
  };
  expect(await statusAt(exp * 1000 - 1)).toBe(200);
  expect(await statusAt(exp * 1000)).toBe(401);
});

it('the builder header of a token of one builder may name that builder alone (HDR-12)', async () => {
  const { clientId, builderIds } = service.findDemoClient('A');
  const user = service.findDemoUser(({ builderIds: ids }) => ids.includes(builderIds[0]!));
  const [builderId, otherId] = builderIds;
  const token = await service.createToken({ clientId, scope: 'read:builders', userId: user.id, builderId });
  const statusWith = async (id: string) =>
    (await service.get('/builders', token, { 'x-service-builder-id': id })).statusCode;
  expect(await statusWith(builderId!)).toBe(200);
  expect(await statusWith(otherId!)).toBe(403);
});

describe('a verified token', () => {
  it('is read from the database at most every half second (ACC-5)', async () => {
    const token = await service.tokenOf('B');
    const times: number[] = [];
    const end = service.databases.au1.onStatement(
      ({ name }) => name === 'access.facts' && times.push(service.clock.now()),
    );
    const startedAt = service.clock.now();
    for (const milliseconds of [0, 0, 499, 1, 0, 1]) {
      service.clock.advance(milliseconds);
      expect((await service.get('/builders', token)).statusCode).toBe(200);
    }
    end();
    expect(times.map((time) => time - startedAt)).toEqual([0, 500]);
  });

  const createVerifier = () => {
    const { tokens, databases, clock } = service;
    const verifier = new AccessTokenVerifier({ tokens, databases, clock });
    const verify = async (scope: string) => {
      const header = `Bearer ${await service.createToken({ clientId: service.findDemoClient('A').clientId, scope })}`;
      await verifier.authenticate(header, 'au1');
      return header;
    };
    return { verifier, verify };
  };

  it('is accepted and remembered whatever the notation of its scheme', async () => {
    const { verifier } = createVerifier();
    const token = await service.createToken({ clientId: service.findDemoClient('A').clientId, scope: 'read:builders' });
    for (const header of [`bearer   ${token}`, `Bearer ${token}`, `BEARER ${token}`]) {
      expect(await verifier.authenticate(header, 'au1')).toMatchObject({ clientName: expect.any(String) });
      expect(verifier.isVerified(`Bearer ${token}`, 'au1')).toBe(true);
    }
    for (const header of [`Token ${token}`, token, `Bearer ${token} more`, 'Bearer ']) {
      await expect(verifier.authenticate(header, 'au1')).rejects.toMatchObject({ status: 401 });
    }
  });

  it('has its caller without a query for half a second, in the region of its client', async () => {
    const { verifier, verify } = createVerifier();
    const header = await verify('read:builders');
    expect(verifier.findCached(header, 'us1')).toBeNull();
    expect(verifier.findCached(undefined, 'au1')).toBeNull();
    service.clock.advance(499);
    expect(verifier.findCached(header, 'au1')).toBe(await verifier.authenticate(header, 'au1'));
    service.clock.advance(1);
    expect(verifier.findCached(header, 'au1')).toBeNull();
  });

  it('has no caller without a query once it is evicted', async () => {
    const { verifier, verify } = createVerifier();
    const header = await verify('read:builders');
    verifier.evict((await service.tokens.verify('au1', header.slice('Bearer '.length)))!.jti);
    expect(verifier.findCached(header, 'au1')).toBeNull();
  });

  it('has no caller without a query when it expires or the clock moves backwards', async () => {
    const { verifier, verify } = createVerifier();
    const header = await verify('read:builders');
    service.clock.advance(-1);
    expect(verifier.findCached(header, 'au1')).toBeNull();
    const { exp } = (await service.tokens.verify('au1', header.slice('Bearer '.length)))!;
    service.clock.advance(exp * 1000 - service.clock.now() - 1);
    await verifier.authenticate(header, 'au1');
    expect(verifier.findCached(header, 'au1')).not.toBeNull();
    service.clock.advance(1);
    expect(verifier.findCached(header, 'au1')).toBeNull();
  });

  it('is forgotten when it was not read for two seconds', async () => {
    const { verifier, verify } = createVerifier();
    const [first, second] = [await verify('read:builders'), await verify('read:builders')];
    service.clock.advance(1_999);
    const third = await verify('read:builders');
    expect([first, second, third].map((header) => verifier.isVerified(header, 'au1'))).toEqual([true, true, true]);
    service.clock.advance(1);
    const fourth = await verify('read:builders');
    expect([first, second, third, fourth].map((header) => verifier.isVerified(header, 'au1'))).toEqual([
      ...[false, false],
      ...[true, true],
    ]);
  });

  it('is forgotten when it was not read for two seconds, also where an older one was read since', async () => {
    const { verifier, verify } = createVerifier();
    const [older, newer] = [await verify('read:builders'), await verify('read:builders')];
    service.clock.advance(1_999);
    await verifier.authenticate(older, 'au1');
    service.clock.advance(1);
    await verify('read:builders');
    expect([older, newer].map((header) => verifier.isVerified(header, 'au1'))).toEqual([true, false]);
  });

  it('is verified in the region that accepted it alone (LIM-24)', async () => {
    const { verifier, verify } = createVerifier();
    const header = await verify('read:builders');
    await expect(verifier.authenticate(header, 'us1')).rejects.toMatchObject({ status: 401 });
    expect([verifier.isVerified(header, 'au1'), verifier.isVerified(header, 'us1')]).toEqual([true, false]);
  });

  it('stays verified while it is read again (LIM-24)', async () => {
    const { verifier, verify } = createVerifier();
    const header = await verify('read:builders');
    service.clock.advance(500);
    const reading = verifier.authenticate(header, 'au1');
    expect(verifier.isVerified(header, 'au1')).toBe(true);
    await reading;
  });

  it('is forgotten when it is used after its expiry', async () => {
    const { verifier, verify } = createVerifier();
    const header = await verify('read:builders');
    service.clock.advance(86_400_000);
    await expect(verifier.authenticate(header, 'au1')).rejects.toMatchObject({ status: 401 });
    expect(verifier.isVerified(header, 'au1')).toBe(false);
  });

  it('is forgotten when the clock moves backwards', async () => {
    const { verifier, verify } = createVerifier();
    const first = await verify('read:builders');
    service.clock.advance(-1);
    const second = await verify('read:builders');
    service.clock.advance(1);
    expect([first, second].map((header) => verifier.isVerified(header, 'au1'))).toEqual([false, true]);
  });

  it('is not remembered when its header has more than 2,048 characters', async () => {
    const { verifier, verify } = createVerifier();
    const { length } = await verify('');
    // Base64 has four characters for three bytes, and no text of some lengths.
    const bytes = Math.floor(((2_048 - length) * 3) / 4);
    const headers = await Promise.all([-3, -2, -1, 0, 1, 2, 3].map((more) => verify('x'.repeat(bytes + more))));
    const [remembered, forgotten] = [true, false].map((isShort) =>
      headers
        .filter((header) => header.length <= 2_048 === isShort)
        .map((header) => verifier.isVerified(header, 'au1')),
    );
    expect([new Set(remembered), new Set(forgotten)]).toEqual([new Set([true]), new Set([false])]);
    expect(headers.filter((header) => Math.abs(header.length - 2_048) <= 1).length).toBeGreaterThan(0);
  });
});

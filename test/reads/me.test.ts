import { beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '../../entities/connection.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { type Accounts, addAccounts, timestampsAt } from '../support/accounts.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let accounts: Accounts;

beforeAll(async () => {
  accounts = await addAccounts(service);
  const { builderId, otherBuilderId } = accounts;
  const em = service.databases.au1.fork();
  await em.insert(User, {
    id: 'user_a1',
    name: 'Ann',
    email: 'ann@example.org',
    passwordHash: 'hash',
    ...timestampsAt(1),
  });
  await em.insertMany(Membership, [
    { userId: 'user_a1', builderId, role: 'ADMIN', ...timestampsAt(2) },
    { userId: 'user_a1', builderId: otherBuilderId, role: 'FOREMAN', ...timestampsAt(3) },
  ]);
  await em.insert(OAuthClient, {
    id: 'cli_dashboard',
    name: 'Dashboard',
    type: 'CONFIDENTIAL',
    internal: true,
    grants: ['client_credentials'],
    scopes: ['read:builders'],
    redirectUris: [],
    origins: [],
    ...timestampsAt(4),
  });
});

describe('GET /me', () => {
  test('200 for a client: itself, and its connected builders (ACC-13, ACC-14, IDN-9, RED-1, RED-2)', async () => {
    const { clientId, builderId, otherBuilderId } = accounts;
    const token = await service.createToken({ clientId, scope: 'read:meetings read:photos' });
    const response = await service.get('/me', token);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      type: 'client',
      id: clientId,
      name: 'Site Sync server',
      email: null,
      profilePictureUrl: null,
      clientId,
      scopes: ['read:meetings', 'read:photos'],
      regionId: 'au1',
      memberships: [
        { builderId, builderName: 'Hill Homes', builderLogoUrl: null, role: null },
        { builderId: otherBuilderId, builderName: 'Bay Build', builderLogoUrl: null, role: null },
      ],
    });
  });

  test('200 for a user: the person, and the one builder that the token reaches (ACC-4, ACC-14, RED-1, RED-2)', async () => {
    const { clientId, otherBuilderId } = accounts;
    const token = await service.createToken({
      clientId,
      scope: 'read:projects',
      userId: 'user_a1',
      builderId: otherBuilderId,
    });
    const response = await service.get('/me', token);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      type: 'user',
      id: 'user_a1',
      name: 'Ann',
      email: 'ann@example.org',
      profilePictureUrl: null,
      clientId,
      scopes: ['read:projects'],
      regionId: 'au1',
      memberships: [
        {
          builderId: otherBuilderId,
          builderName: 'Bay Build',
          builderLogoUrl: null,
          role: 'FOREMAN',
        },
      ],
    });
  });

  test('200 without a builder whose connection was revoked (RED-2)', async () => {
    const { clientId, builderId, otherBuilderId } = accounts;
    const token = await service.createToken({ clientId, scope: 'read:builders' });
    const setStatus = async (status: 'ACTIVE' | 'REVOKED') => {
      await service.databases.au1.fork().nativeUpdate(Connection, { builderId }, { status });
      service.clock.advance(1000);
    };
    await setStatus('REVOKED');
    const reached = (await service.get('/me', token)).json().memberships;
    await setStatus('ACTIVE');
    expect(reached.map((membership: { builderId: string }) => membership.builderId)).toEqual([otherBuilderId]);
  });

  test('401 without a token (RED-1)', async () => {
    const response = await service.request({ method: 'GET', url: '/me' });
    expect(response.statusCode).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer');
  });

  test('401 in another region than the one that issued the token (HDR-8)', async () => {
    const token = await service.createToken({ clientId: accounts.clientId, scope: 'read:builders' });
    const response = await service.get('/me', token, { 'x-service-region-id': 'us1' });
    expect(response.statusCode).toBe(401);
  });

  test('401 for a user who is no longer a member (ACC-4)', async () => {
    const { clientId, unconnectedBuilderId } = accounts;
    const token = await service.createToken({
      clientId,
      scope: 'read:builders',
      userId: 'user_a1',
      builderId: unconnectedBuilderId,
    });
    expect((await service.get('/me', token)).statusCode).toBe(401);
  });

  test('403 for an internal client, which has GraphQL only (RED-2)', async () => {
    const token = await service.createToken({ clientId: 'cli_dashboard', scope: 'read:builders' });
    expect((await service.get('/me', token)).statusCode).toBe(403);
  });
});

describe('GraphQL me', () => {
  test('returns an internal client without memberships (RED-2)', async () => {
    const token = await service.createToken({ clientId: 'cli_dashboard', scope: 'read:builders' });
    const { data } = await service.graphql(token, '{ me { type id name memberships { builderId } } }');
    expect(data.me).toEqual({ type: 'client', id: 'cli_dashboard', name: 'Dashboard', memberships: [] });
  });
});

import { Builder } from '../../entities/builder.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { newId } from '../../src/shared/ids.ts';
import type { Service } from './harness.ts';

/** Returns the instant that many seconds after the beginning of a fixed day. */
export const second = (count: number) => new Date(Date.UTC(2026, 2, 1, 0, 0, count)).toISOString();

export const stamps = (count: number) => ({ createdAt: second(count), updatedAt: second(count + 1) });

/** An integrator with a client, two builders that are connected and one that is not; a project each. All in `au1`. */
export interface Accounts {
  integratorId: string;
  clientId: string;
  builderId: string;
  otherBuilderId: string;
  strangerId: string;
  projectId: string;
  otherProjectId: string;
}

export async function addAccounts(service: Service): Promise<Accounts> {
  const now = service.clock.now();
  const em = service.databases.au1.fork();
  const integratorId = newId('integrator', now);
  const clientId = newId('client', now);
  await em.insert(Integrator, { id: integratorId, name: 'Site Sync', deepLinkSchemes: [], ...stamps(0) });
  await em.insert(OAuthClient, {
    id: clientId,
    integratorId,
    name: 'Site Sync server',
    type: 'CONFIDENTIAL',
    internal: false,
    grants: ['client_credentials', 'authorization_code'],
    scopes: [...SCOPES],
    redirectUris: [],
    origins: [],
    ...stamps(0),
  });
  const [builderId, otherBuilderId, strangerId] = [1, 2, 3].map(() => newId('builder', now)) as [
    string,
    string,
    string,
  ];
  await em.insertMany(Builder, [
    { id: builderId, name: 'Hill Homes', ...stamps(1) },
    { id: otherBuilderId, name: 'Bay Build', logoUrl: 'https://files.example/bay.png', ...stamps(2) },
    { id: strangerId, name: 'Stranger', ...stamps(3) },
  ]);
  const connection = { integratorId, status: 'ACTIVE' as const, scopes: [...SCOPES], ...stamps(4) };
  await em.insertMany(Connection, [
    { ...connection, builderId },
    { ...connection, builderId: otherBuilderId },
  ]);
  const [projectId, otherProjectId] = [1, 2].map(() => newId('project', now)) as [string, string];
  await em.insertMany(Project, [
    { id: projectId, builderId, name: 'Hill School', status: 'IN_PROGRESS', integrations: [], ...stamps(5) },
    {
      id: otherProjectId,
      builderId: otherBuilderId,
      name: 'Bay Shed',
      status: 'UPCOMING',
      integrations: [],
      ...stamps(6),
    },
  ]);
  return { integratorId, clientId, builderId, otherBuilderId, strangerId, projectId, otherProjectId };
}

import { Builder } from '../../entities/builder.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { newId } from '../../schema/ids.ts';
import { SCOPES } from '../../schema/scopes.ts';
import type { Service } from './harness.ts';

/** Returns the instant that many seconds after the beginning of a fixed day. */
export const instantAt = (count: number) => new Date(Date.UTC(2026, 2, 1, 0, 0, count)).toISOString();

export const timestampsAt = (count: number) => ({ createdAt: instantAt(count), updatedAt: instantAt(count + 1) });

/** An integrator with a client, two builders that are connected and one that is not; a project each. All in `au1`. */
export interface Accounts {
  integratorId: string;
  clientId: string;
  builderId: string;
  otherBuilderId: string;
  unconnectedBuilderId: string;
  projectId: string;
  otherProjectId: string;
}

export async function addAccounts(service: Service): Promise<Accounts> {
  const now = service.clock.now();
  const em = service.databases.au1.fork();
  const integratorId = newId('integrator', now);
  const clientId = newId('client', now);
  await em.insert(Integrator, { id: integratorId, name: 'Site Sync', deepLinkSchemes: [], ...timestampsAt(0) });
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
    ...timestampsAt(0),
  });
  const [builderId, otherBuilderId, unconnectedBuilderId] = [1, 2, 3].map(() => newId('builder', now)) as [
    string,
    string,
    string,
  ];
  await em.insertMany(Builder, [
    { id: builderId, name: 'Hill Homes', ...timestampsAt(1) },
    { id: otherBuilderId, name: 'Bay Build', ...timestampsAt(2) },
    { id: unconnectedBuilderId, name: 'Stranger', ...timestampsAt(3) },
  ]);
  const connection = { integratorId, status: 'ACTIVE' as const, scopes: [...SCOPES], ...timestampsAt(4) };
  await em.insertMany(Connection, [
    { ...connection, builderId },
    { ...connection, builderId: otherBuilderId },
  ]);
  const [projectId, otherProjectId] = [1, 2].map(() => newId('project', now)) as [string, string];
  await em.insertMany(Project, [
    { id: projectId, builderId, name: 'Hill School', status: 'IN_PROGRESS', integrations: [], ...timestampsAt(5) },
    {
      id: otherProjectId,
      builderId: otherBuilderId,
      name: 'Bay Shed',
      status: 'UPCOMING',
      integrations: [],
      ...timestampsAt(6),
    },
  ]);
  return { integratorId, clientId, builderId, otherBuilderId, unconnectedBuilderId, projectId, otherProjectId };
}

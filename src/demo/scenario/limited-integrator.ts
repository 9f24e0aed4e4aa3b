import { Connection } from '../../../entities/connection.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { GRANTS, OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { SCOPES } from '../../../schema/scopes.ts';
import { iso } from '../dates.ts';
import { createBuilder } from '../generator-context.ts';
import { Random } from '../random.ts';
import type { Rows } from '../rows.ts';

const DAY = 86_400_000;

/** Adds an integrator that synchronizes photos, and whose connection to the first builder lacks the scope for them. */
export function addLimitedIntegrator(rows: Rows, now: number): void {
  const at = iso(now - 20 * DAY);
  const dates = { createdAt: at, updatedAt: at };
  const random = new Random('limited integrator');
  const integratorId = random.id('integrator', at);
  const clientId = random.id('client', at);
  rows.add(Integrator, { id: integratorId, ...dates, name: 'SnapSite Photos', deepLinkSchemes: [] });
  rows.add(OAuthClient, {
    ...{ id: clientId, ...dates, integratorId, name: 'SnapSite sync', type: 'CONFIDENTIAL', internal: false },
    ...{ grants: [...GRANTS], scopes: [...SCOPES].filter((scope) => scope !== 'write:sign_on_events') },
    ...{ redirectUris: ['https://snapsite.example/callback'], origins: [], pilotAgreement: null, disabledAt: null },
  });
  const scopes = SCOPES.filter((scope) => !scope.endsWith(':photos') && scope !== 'write:sign_on_events');
  rows.add(Connection, { ...dates, integratorId, builderId: createBuilder('au1', 0).id, status: 'ACTIVE', scopes });
}

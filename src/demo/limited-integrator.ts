import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { GRANTS, OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Rejection, UsageDay } from '../../entities/usage.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { DAY, iso } from './dates.ts';
import { generateBuilder } from './generator-context.ts';
import { Random } from './random.ts';
import type { Rows } from './rows.ts';

/** Days with requests. */
const USAGE_DAYS = 14;

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
  rows.add(Connection, { ...dates, integratorId, builderId: generateBuilder('au1', 0).id, status: 'ACTIVE', scopes });
  for (let day = -USAGE_DAYS; day <= 0; day++) {
    const date = iso(now + day * DAY).slice(0, 10);
    const requests = random.between(120, 260);
    rows.add(UsageDay, { integratorId, date, requests, errors: 0, rejections: random.between(20, 40) });
  }
  for (let minutes = 95; minutes > 0; minutes -= 10) {
    rows.add(Rejection, {
      ...{ at: iso(now - minutes * 60_000), integratorId, clientId, operation: 'GET /builders/{builderId}/photos' },
      ...{ status: 403, code: 'INSUFFICIENT_SCOPE', reason: 'scope missing in the connection: read:photos' },
      requestId: `req-${random.digits(12)}`,
    });
  }
}

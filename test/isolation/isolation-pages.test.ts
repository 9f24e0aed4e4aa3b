import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createSession } from '../../src/oauth/interaction/sessions.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { type Service, startService } from '../support/harness.ts';

interface Company {
  id: string;
  name: string;
  reportId: string | null;
}

/** Sign in first. */
const CLOSED = [303, 401];

let service: Service;
/** Every builder of the region `au1`, with one of its photo reports. */
let companies: Company[];
let pages = 0;

beforeAll(async () => {
  service = await startService();
  companies = await service.databases.au1
    .fork()
    .execute(
      `select b.id, b.name, (select min(r.id) from photo_report r where r.builder_id = b.id) as "reportId" from builder b order by b.id`,
    );
});

afterAll(async () => {
  console.info(`isolation: ${pages} pages showed their own builders alone`);
  await service.stop();
});

/** Signs in and returns the session cookie. */
async function signedIn(email: string): Promise<string> {
  const { regionId, id } = service.demoUser((user) => user.email === email);
  const sql = 'select id, password_hash as "passwordHash" from app_user where id = ?';
  const [user] = (await service.databases[regionId].fork().execute(sql, [id])) as Parameters<typeof createSession>[2][];
  const browserId = newSecret();
  await createSession(service.databases[regionId], browserId, user!, service.clock.now());
  return `session-${regionId}=${browserId}`;
}

async function open(url: string, cookie: string) {
  pages++;
  const { statusCode, body, headers } = await service.request({ url, headers: cookie ? { cookie } : {} });
  return { status: statusCode, body, location: headers.location };
}

/** Names and ids of the builders of which the user is not a member. */
const foreignTo = (builderIds: string[]) =>
  companies.filter(({ id }) => !builderIds.includes(id)).flatMap(({ id, name }) => [id, name]);

describe.each(inject('demo').users.map(({ email }) => ({ email })))('with the session of $email', ({ email }) => {
  const { builderIds } = inject('demo').users.find((user) => user.email === email)!;

  it('the page of a report opens only for members of its builder (PRP-38)', async () => {
    const cookie = await signedIn(email);
    const seen = await Promise.all(
      companies
        .filter(({ reportId }) => reportId !== null)
        .map(async ({ id, reportId }) => [id, (await open(`/reports/${reportId}`, cookie)).status]),
    );
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.map(([id]) => [id, builderIds.includes(String(id)) ? 200 : 404]));
  });

  it('a session does not open the pages of the other region (HDR-9)', async () => {
    const cookie = (await signedIn(email)).replace(
      /^session-(au1|us1)/,
      (_, region) => `session-${region === 'au1' ? 'us1' : 'au1'}`,
    );
    for (const { reportId } of companies)
      if (reportId) expect(CLOSED).toContain((await open(`/reports/${reportId}`, cookie)).status);
  });

  it("the consent page shows only the user's own builders", async () => {
    const cookie = await signedIn(email);
    const { clientId, redirectUris } = service.demo('A public');
    for (const builderId of ['', ...companies.map(({ id }) => id)]) {
      const query = new URLSearchParams({
        ...{
          response_type: 'code',
          client_id: clientId,
          redirect_uri: redirectUris[0]!,
          scope: 'read:builders',
          state: 's',
        },
        ...{ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' },
        ...(builderId && { builder_id: builderId }),
      });
      const page = await open(`/oauth/authorize?${query}`, cookie);
      const shown = `${page.body} ${page.location ?? ''}`.replaceAll(builderId || 'none', '');
      for (const text of foreignTo(builderIds)) if (text !== builderId) expect(shown).not.toContain(text);
    }
  });
});

describe('without a session', () => {
  it('no page of a report opens (ACC-17)', async () => {
    for (const { reportId } of companies)
      if (reportId) expect(CLOSED).toContain((await open(`/reports/${reportId}`, '')).status);
  });
});

import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { deriveCsrfToken } from '../../src/oauth/interaction/csrf-token.ts';
import { createSession } from '../../src/oauth/interaction/sessions.ts';
import { issueAuthorizationCode } from '../../src/oauth/tokens/authorization-codes.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { useService } from '../support/harness.ts';

interface Company {
  id: string;
  name: string;
  reportId: string | null;
}

/** Statuses of a request that needs a sign-in. */
const NO_ACCESS = [303, 401];

const service = useService();
/** Every builder of the region `au1`, with one of its photo reports. */
let companies: Company[];
let pages = 0;

beforeAll(async () => {
  companies = await service.databases.au1
    .fork()
    .execute(
      `select b.id, b.name, (select min(r.id) from photo_report r where r.builder_id = b.id) as "reportId" from builder b order by b.id`,
    );
});

afterAll(async () => {
  console.info(`isolation: ${pages} pages showed their own builders alone`);
});

/** Signs in and returns the session cookie. */
async function signIn(email: string): Promise<string> {
  const { regionId, id } = service.findDemoUser((user) => user.email === email);
  const sql = 'select id, password_hash as credential from app_user where id = ?';
  const [user] = (await service.databases[regionId].fork().execute(sql, [id])) as Parameters<typeof createSession>[2][];
  const browserId = newSecret();
  await createSession(service.databases[regionId], browserId, user!, service.clock.now());
  return `session-${regionId}=${browserId}`;
}

async function openPage(url: string, cookie: string) {
  pages++;
  const { statusCode, body, headers } = await service.request({ url, headers: cookie ? { cookie } : {} });
  return { status: statusCode, body, location: headers.location };
}

/** Names and ids of the builders of which the user is not a member. */
const listForeignTexts = (builderIds: string[]) =>
  companies.filter(({ id }) => !builderIds.includes(id)).flatMap(({ id, name }) => [id, name]);

describe.each(inject('demo').users.map(({ email }) => ({ email })))('with the session of $email', ({ email }) => {
  const { builderIds } = inject('demo').users.find((user) => user.email === email)!;

  it('the page of a report opens only for members of its builder (PRP-38)', async () => {
    const cookie = await signIn(email);
    const seen = await Promise.all(
      companies
        .filter(({ reportId }) => reportId !== null)
        .map(async ({ id, reportId }) => [id, (await openPage(`/reports/${reportId}`, cookie)).status]),
    );
    expect(seen.length).toBeGreaterThan(2);
    expect(seen).toEqual(seen.map(([id]) => [id, builderIds.includes(String(id)) ? 200 : 404]));
  });

  it('a session does not open the pages of the other region (HDR-9)', async () => {
    const cookie = (await signIn(email)).replace(
      /^session-(au1|us1)/,
      (_, region) => `session-${region === 'au1' ? 'us1' : 'au1'}`,
    );
    for (const { reportId } of companies)
      if (reportId) expect(NO_ACCESS).toContain((await openPage(`/reports/${reportId}`, cookie)).status);
  });

  it("the consent page shows only the user's own builders", async () => {
    const cookie = await signIn(email);
    const { clientId, redirectUris } = service.findDemoClient('A public');
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
      const page = await openPage(`/oauth/authorize?${query}`, cookie);
      const shown = `${page.body} ${page.location ?? ''}`.replaceAll(builderId || 'none', '');
      for (const text of listForeignTexts(builderIds)) if (text !== builderId) expect(shown).not.toContain(text);
    }
  });
});

describe('the page of authorised applications', () => {
  /** An authorisation of each user of the region for each of their builders. */
  beforeAll(async () => {
    const { clientId } = service.findDemoClient('A public');
    for (const { id, regionId, builderIds } of inject('demo').users) {
      if (regionId !== 'au1') continue;
      for (const builderId of builderIds) {
        const consent = { clientId, userId: id, builderId, scopes: ['read:builders'], resource: null };
        const binding = { redirectUri: 'http://127.0.0.1/', codeChallenge: 'x', codeChallengeMethod: 'S256' as const };
        const database = service.databases.au1;
        const source = { actor: { type: 'USER' as const, id }, origin: {} };
        await issueAuthorizationCode({ database, clock: service.clock, source }, consent, binding);
        await database.fork().execute('update oauth_authorization_code set used_at = created_at');
      }
    }
  });

  it.each(inject('demo').users.map(({ email, builderIds }) => ({ email, builderIds })))(
    'shows $email only the own authorisations (OAU-46)',
    async ({ email, builderIds }) => {
      const page = await openPage('/account/applications', await signIn(email));
      expect(page.status).toBe(200);
      for (const text of listForeignTexts(builderIds)) expect(page.body).not.toContain(text);
    },
  );

  it('shows and revokes nothing without a session, with a session of the other region or a made-up one (OAU-47)', async () => {
    const [user] = inject('demo').users.filter(({ regionId }) => regionId === 'au1');
    const cookie = await signIn(user!.email);
    const cookies = ['', `session-au1=${newSecret()}`, cookie.replace('session-au1', 'session-us1')];
    const { clientId } = service.findDemoClient('A public');
    const fields = { region: 'au1', client_id: clientId, builder_id: user!.builderIds[0]! };
    const active = async () =>
      (await service.databases.au1.fork().execute('select id from oauth_token_family where revoked_at is null')).length;
    const before = await active();
    for (const each of cookies) {
      const page = await openPage('/account/applications', each);
      expect([page.status, page.body.includes('<h1>Sign in</h1>')]).toEqual([200, true]);
      const browserId = /session-au1=([^;]+)/.exec(each)?.[1];
      const response = await service.request({
        ...{ method: 'POST', url: '/account/applications' },
        headers: { ...(each && { cookie: each }), 'content-type': 'application/x-www-form-urlencoded' },
        payload: new URLSearchParams({ ...fields, csrf: browserId ? deriveCsrfToken(browserId) : 'x' }).toString(),
      });
      expect(NO_ACCESS.concat(403)).toContain(response.statusCode);
    }
    expect(await active()).toBe(before);
  });

  it('does not accept an access token in place of a session', async () => {
    const headers = { authorization: `Bearer ${await service.tokenOf('internal')}` };
    const page = await service.request({ url: '/account/applications', headers });
    expect(page.body).toContain('<h1>Sign in</h1>');
  });

  it('opens no form for choosing a password without a link (OAU-43)', async () => {
    for (const query of ['', '?region=au1', `?region=au1&token=${newSecret()}`, '?region=au1&token=%00'])
      expect((await openPage(`/account/password${query}`, '')).body).not.toContain('name="password"');
  });
});

describe('without a session', () => {
  it('no page of a report opens (ACC-17)', async () => {
    for (const { reportId } of companies)
      if (reportId) expect(NO_ACCESS).toContain((await openPage(`/reports/${reportId}`, '')).status);
  });
});

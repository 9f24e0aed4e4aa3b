import { beforeAll, describe, expect, test } from 'vitest';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { AuthorizationCode } from '../../entities/authorization-code.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { TokenFamily } from '../../entities/token-family.entity.ts';
import { SCOPE_DECLARATIONS } from '../../schema/scopes.ts';
import { LIMITED_CHANGES, toAuditEntry } from '../../src/domain/audit/record-audit.ts';
import { deriveCsrfToken } from '../../src/oauth/interaction/csrf-token.ts';
import { hashSecret } from '../../src/shared/secrets.ts';
import { Browser, type PageView } from './browser.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  authorizationParameters,
  REDIRECT_URI,
  responseParametersOf,
  s256ChallengeOf,
  toQuery,
  VERIFIER,
} from './fixtures.ts';
import { BASE_URL, OAUTH_START, useOAuth } from './service.ts';

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a', { name: 'Harbour & <Sons>', logoKey: 'logos/buil_a/a.png' });
  await addBuilder(service, 'buil_b', { name: 'Bay Build' });
  await addBuilder(service, 'buil_few', { name: 'Few Homes', allows: ['read:builders'] });
  await addBuilder(service, 'buil_none', { name: 'Quarry', allows: null });
  await addBuilder(service, 'buil_us', { region: 'us1', name: 'Mesa Build' });
  await addUser(service, 'user_one', ['buil_a']);
  await addUser(service, 'user_many', ['buil_a', 'buil_b', 'buil_few', 'buil_none']);
  await addUser(service, 'user_few', ['buil_few']);
  await addUser(service, 'user_closed', ['buil_few', 'buil_none']);
  await addUser(service, 'user_none', ['buil_none']);
  await addUser(service, 'user_nowhere', []);
  await addUser(service, 'user_us', ['buil_us'], { region: 'us1' });
  await addApplication(service, 'cli_app', { name: 'Snap <Site>' });
  await addApplication(service, 'cli_once', { grants: ['authorization_code'] });
  await addApplication(service, 'cli_us', { region: 'us1' });
  await addApplication(service, 'cli_native', { redirectUris: ['com.example.app:/cb', 'http://127.0.0.1:8977/cb'] });
});

const REQUEST = authorizationParameters('cli_app');

/** Opens an authorization request and signs the user in. */
async function signInAs(user: string, changes: Record<string, string | undefined> = {}, clientId = 'cli_app') {
  const browser = new Browser(service.app);
  const page = await browser.open(authorizationParameters(clientId, changes));
  return { browser, view: await browser.signIn(page, `${user}@example.com`) };
}

const textOf = (view: PageView) => view.body.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

describe('the consent page', () => {
  test('is shown at once for a single builder, with client, scopes and company (OAU-22)', async () => {
    const { view } = await signInAs('user_one', { scope: 'read:projects write:photos' });
    expect(view.heading).toBe('Allow Snap <Site> to use the data of Harbour & <Sons>?');
    const text = textOf(view);
    expect(text).toContain('made by Site Sync');
    expect(text).toMatch(
      /able to see Projects and their status It will be able to make changes Add, change and remove/,
    );
    expect(text).toContain('app.example');
    expect(text).toContain('Person user_one (user_one@example.com)');
    expect(text).toContain('30 days');
    expect(view.body).not.toContain('<Sons>');
    expect(view.body).not.toContain('<Site>');
  });

  test('has a description for every scope of an integrator', () => {
    for (const { description } of Object.values(SCOPE_DECLARATIONS)) expect(description).not.toMatch(/^$|read:|write:/);
  });

  test('says one hour for a client that cannot refresh', async () => {
    expect(textOf((await signInAs('user_one', {}, 'cli_once')).view)).toContain('for one hour');
  });

  test("shows the company's logo by its signed URL", async () => {
    const { view } = await signInAs('user_one');
    expect(view.body).toMatch(`src="${BASE_URL}/storage/au1/logos/buil_a/a.png?`);
    expect(view.body).toMatch(/logos\/buil_a\/a\.png\?[^"]*signature=/);
    expect(view.headers['content-security-policy']).toContain(`img-src 'self' ${BASE_URL};`);
  });

  test('loads no logo from another host', async () => {
    const { view } = await signInAs('user_many');
    expect(view.body).toContain('Bay Build');
    expect(view.body).not.toContain('logos.example');
    expect(view.headers['content-security-policy']).not.toContain('logos.example');
  });

  // OAU-46
  test('links to the page on which the access can be removed', async () => {
    const { view } = await signInAs('user_one');
    expect(view.body).toContain('<a href="/account/applications" target="_blank" rel="noopener">your applications</a>');
  });

  test.each([
    ['the app on this device', 'com.example.app:/cb', 'cli_native'],
    ['the app on this computer', 'http://127.0.0.1:8977/cb', 'cli_native'],
    ['app.example', REDIRECT_URI, 'cli_app'],
  ])('names %s as the destination of the redirect URI %s (OAU-24)', async (destination, redirect_uri, clientId) => {
    const { view } = await signInAs('user_one', { redirect_uri }, clientId);
    expect(textOf(view)).toContain(`Either way you go back to ${destination} .`);
  });

  test('allows its form to redirect to the scheme of the redirect URI', async () => {
    const target = async (redirect_uri: string, clientId = 'cli_native') => {
      const { view } = await signInAs('user_one', { redirect_uri }, clientId);
      return /form-action ([^;]*);/.exec(String(view.headers['content-security-policy']))?.[1];
    };
    expect(await target('com.example.app:/cb')).toBe("'self' com.example.app:");
    expect(await target('http://127.0.0.1:8977/cb')).toBe("'self' http: https:");
    expect(await target(REDIRECT_URI, 'cli_app')).toBe("'self' https:");
  });

  // OAU-41
  test('redirects with a code, the state and the issuer after Allow, and stores the digest and binding of the code', async () => {
    const { browser, view } = await signInAs('user_one');
    const done = await browser.submit(view, 'Allow');
    expect(done.status).toBe(303);
    expect(done.location!.startsWith(`${REDIRECT_URI}?`)).toBe(true);
    const response = responseParametersOf(done.location!);
    expect(response).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/), state: REQUEST.state, iss: BASE_URL });
    const em = service.databases.au1.fork();
    const stored = await em.findOneOrFail(AuthorizationCode, { digest: hashSecret(response.code!) });
    expect(stored).toMatchObject({
      ...{
        redirectUri: REDIRECT_URI,
        codeChallenge: s256ChallengeOf(VERIFIER),
        codeChallengeMethod: 'S256',
        usedAt: null,
      },
      expiresAt: new Date(OAUTH_START + 600_000).toISOString(),
    });
    expect(await em.findOneOrFail(TokenFamily, { id: stored.familyId })).toMatchObject({
      ...{ clientId: 'cli_app', userId: 'user_one', builderId: 'buil_a', scopes: ['read:builders', 'read:projects'] },
    });
    expect(await em.count(AuthorizationCode, { digest: response.code! })).toBe(0);
  });

  test('redirects with access_denied and issues no code after Don’t allow (OAU-24)', async () => {
    const { browser, view } = await signInAs('user_one');
    const before = await service.databases.au1.fork().count(AuthorizationCode);
    const done = await browser.submit(view, 'deny');
    expect(done.status).toBe(303);
    expect(responseParametersOf(done.location!)).toEqual({
      ...{ error: 'access_denied', error_description: 'The user did not allow it.' },
      ...{ state: REQUEST.state, iss: BASE_URL },
    });
    expect(await service.databases.au1.fork().count(AuthorizationCode)).toBe(before);
  });

  test('is shown for every authorization request (OAU-24)', async () => {
    const { browser, view } = await signInAs('user_one');
    await browser.submit(view, 'Allow');
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
  });

  test('uses the region of the client', async () => {
    const { browser, view } = await signInAs('user_us', {}, 'cli_us');
    expect(view.heading).toBe('Allow Client cli_us to use the data of Mesa Build?');
    const { code } = responseParametersOf((await browser.submit(view, 'Allow')).location!);
    expect(await service.databases.us1.fork().count(AuthorizationCode, { digest: hashSecret(code!) })).toBe(1);
    expect(browser.cookies.has('session-us1')).toBe(true);
    expect(browser.cookies.has('session-au1')).toBe(false);
    // A session is valid in its own region only.
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
  });

  test('cannot be reached by a user of another region', async () => {
    const browser = new Browser(service.app);
    const view = await browser.signIn(await browser.open(authorizationParameters('cli_us')), 'user_one@example.com');
    expect(view.body).toContain('The e-mail or the password is not right.');
  });
});

describe('the builder selection', () => {
  test('lists all builders, with the reason for those that cannot be selected (OAU-22, OAU-23)', async () => {
    const { view } = await signInAs('user_many');
    expect(view.heading).toBe('Choose a company');
    const options = [
      ...view.body.matchAll(/<input type="radio"([^>]*)>[\s\S]*?class="name">([^<]*)<[\s\S]*?class="detail">([^<]*)</g),
    ];
    const shown = options.map(([, attributes, name, detail]) => [name, attributes!.includes('disabled'), detail]);
    expect(shown).toEqual([
      ['Bay Build', false, 'Site manager'],
      ['Few Homes', true, 'Does not share with this application: projects.'],
      ['Harbour &amp; &lt;Sons&gt;', false, 'Site manager'],
      ['Quarry', true, 'Not connected to this application.'],
    ]);
  });

  test('leads to the consent page of the selected builder, and back', async () => {
    const { browser, view } = await signInAs('user_many');
    const consent = await browser.submit(view, 'Continue', { builder_id: 'buil_b' });
    expect(consent.heading).toBe('Allow Snap <Site> to use the data of Bay Build?');
    expect(textOf(consent)).toContain('It gets no access to your other companies.');
    const again = await browser.submit(consent, 'Choose another company');
    expect(again.heading).toBe('Choose a company');
    const done = await browser.submit(await browser.submit(again, 'Continue', { builder_id: 'buil_a' }), 'Allow');
    const { code, state } = responseParametersOf(done.location!);
    expect(state).toBe(REQUEST.state);
    const em = service.databases.au1.fork();
    const { familyId } = await em.findOneOrFail(AuthorizationCode, { digest: hashSecret(code!) });
    expect((await em.findOneOrFail(TokenFamily, { id: familyId })).builderId).toBe('buil_a');
  });

  test('is skipped when builder_id preselects a selectable builder (OAU-22)', async () => {
    expect((await signInAs('user_many', { builder_id: 'buil_b' })).view.heading).toMatch(/data of Bay Build/);
  });

  // OAU-22
  test.each(['buil_few', 'buil_none'])('is shown when builder_id is %s', async (builder_id) => {
    const { view } = await signInAs('user_many', { builder_id });
    expect(view.heading).toBe('Choose a company');
    expect(textOf(view)).toContain('asked for a company that you cannot choose');
  });

  test.each(['user_one', 'user_many'])(
    'is access_denied for a builder_id that %s is not a member of (OAU-22)',
    async (user) => {
      const { view } = await signInAs(user, { builder_id: 'buil_stranger' });
      expect(responseParametersOf(view.location!)).toMatchObject({ error: 'access_denied', state: REQUEST.state });
    },
  );

  test('answers 400 without a selected builder', async () => {
    const { browser, view } = await signInAs('user_many');
    const { status, location } = await browser.submit(view, 'Continue');
    expect([status, location]).toEqual([400, null]);
  });

  test('redirects with access_denied after Cancel', async () => {
    const { browser, view } = await signInAs('user_many');
    expect(responseParametersOf((await browser.submit(view, 'Cancel')).location!)).toMatchObject({
      error: 'access_denied',
    });
  });
});

describe('without a selectable builder', () => {
  test('redirects with invalid_scope at once when the only connection allows fewer scopes (OAU-23)', async () => {
    const { view } = await signInAs('user_few');
    expect(responseParametersOf(view.location!)).toMatchObject({
      error: 'invalid_scope',
      state: REQUEST.state,
      iss: BASE_URL,
    });
    expect((await signInAs('user_few', { scope: 'read:builders' })).view.heading).toMatch(/^Allow/);
  });

  test.each([
    ['several builders, one of which allows fewer scopes', 'user_closed', 'invalid_scope'],
    ['one builder that is not connected', 'user_none', 'access_denied'],
    ['no builder', 'user_nowhere', 'access_denied'],
  ])('shows a page with the reason and a way back to the client: %s', async (_name, user, error) => {
    const { browser, view } = await signInAs(user);
    expect(view.heading).toBe('No company can be chosen');
    expect(view.body).not.toContain('value="allow"');
    const done = await browser.submit(view, 'leave');
    expect(responseParametersOf(done.location!)).toMatchObject({ error, state: REQUEST.state });
  });
});

describe('a manipulated form', () => {
  const post = async (user: string, fields: Record<string, string>, changes: Record<string, string> = {}) => {
    const { browser } = await signInAs(user);
    const csrf = deriveCsrfToken(browser.cookies.get('session-au1')!);
    const query = toQuery(authorizationParameters('cli_app', changes));
    return browser.send('POST', `/oauth/authorize?${query}`, toQuery({ csrf, ...fields }));
  };

  test.each([
    ['a builder that the user is not a member of', 'user_one', 'buil_b', 'access_denied'],
    ['a builder that is not connected', 'user_many', 'buil_none', 'access_denied'],
    ['a builder whose connection allows fewer scopes', 'user_many', 'buil_few', 'invalid_scope'],
    ['a builder that does not exist', 'user_one', 'buil_nothing', 'access_denied'],
  ])('gets an error for %s', async (_name, user, builder_id, error) => {
    const view = await post(user, { action: 'allow', builder_id });
    expect(responseParametersOf(view.location!)).toMatchObject({ error, state: REQUEST.state });
  });

  test('gets 400 for an unknown action and for no builder', async () => {
    for (const fields of [
      { action: 'everything', builder_id: 'buil_a' },
      { builder_id: 'buil_a' },
      { action: 'allow' },
    ]) {
      const view = await post('user_one', fields as unknown as Record<string, string>);
      expect([view.status, view.location]).toEqual([400, null]);
    }
  });

  test('gets 400 for another redirect URI in its query', async () => {
    const view = await post(
      'user_one',
      { action: 'allow', builder_id: 'buil_a' },
      { redirect_uri: 'https://evil.example/' },
    );
    expect([view.status, view.location]).toEqual([400, null]);
  });

  test("gets invalid_scope for a scope in its query beyond the client's", async () => {
    const view = await post('user_one', { action: 'allow', builder_id: 'buil_a' }, { scope: 'read:attendance' });
    expect(responseParametersOf(view.location!)).toMatchObject({ error: 'invalid_scope' });
  });

  test('gets access_denied after the connection was revoked', async () => {
    const { browser, view } = await signInAs('user_one');
    const em = service.databases.au1.fork();
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'REVOKED' });
    const done = await browser.submit(view, 'Allow');
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'ACTIVE' });
    expect(responseParametersOf(done.location!)).toMatchObject({ error: 'access_denied' });
  });

  test('leads to the sign-in page after the session has expired', async () => {
    const { browser, view } = await signInAs('user_one');
    service.clock.at += 12 * 3_600_000;
    const page = await browser.submit(view, 'Allow');
    service.clock.at = OAUTH_START;
    expect(page.heading).toBe('Sign in');
  });
});

describe('the sign-in and sign-out pages', () => {
  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'never redirect to %s',
    async (target) => {
      const { browser, view } = await signInAs('user_one');
      const extra = toQuery({ next: target, return_to: target, post_logout_redirect_uri: target, redirect: target });
      for (const path of ['/oauth/sign-in', '/oauth/signed-out']) {
        const { location, body } = await browser.send('GET', `${path}?${extra}`);
        expect(location === null || location.startsWith('/oauth/authorize?')).toBe(true);
        expect(body).not.toContain(`href="${target}`);
      }
      const form = view.forms.find(({ action }) => action.startsWith('/oauth/sign-out'))!;
      const out = await browser.send('POST', `${form.action}&${extra}`, toQuery(form.fields));
      expect(out.location).toMatch(/^\/oauth\/signed-out\?/);
    },
  );
});

describe('a user who allows access again and again', () => {
  test('gets 429 on the page after 120 times in an hour, and the application gets nothing (LIM-28)', async () => {
    await addUser(service, 'user_busy', ['buil_a']);
    const { browser, view } = await signInAs('user_busy');
    const granted = (minutes: number) => ({
      ...{
        actor: { type: 'USER' as const, id: 'user_busy' },
        origin: {},
        at: new Date(OAUTH_START - minutes * 60_000).toISOString(),
      },
      ...{ action: 'consent.granted' as const, objectId: 'user_busy/cli_app/buil_a' },
    });
    const em = service.databases.au1.fork();
    const entries = Array.from({ length: LIMITED_CHANGES - 1 }, (_, index) =>
      toAuditEntry(granted(10 + (index % 2) * 20)),
    );
    await em.insertMany(AuditEntry, [...entries, toAuditEntry(granted(61))]);
    expect((await browser.submit(view, 'Allow')).location).toContain('code=');
    const families = await em.count(TokenFamily, { userId: 'user_busy' });
    const rejected = await browser.submit(view, 'Allow');
    expect([rejected.status, rejected.heading, rejected.location]).toEqual([429, 'Too many requests', null]);
    expect(rejected.headers['retry-after']).toBe(String(30 * 60));
    expect(await em.count(TokenFamily, { userId: 'user_busy' })).toBe(families);
    service.clock.at = OAUTH_START + 30 * 60_000;
    expect((await browser.submit(view, 'Allow')).location).toContain('code=');
    service.clock.at = OAUTH_START;
  });
});

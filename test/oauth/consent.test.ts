import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AuthorizationCode } from '../../entities/authorization-code.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { TokenFamily } from '../../entities/token-family.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { csrfTokenOf } from '../../src/oauth/interaction/browser.ts';
import { SCOPE_WORDS } from '../../src/oauth/interaction/pages/scope-words.ts';
import { digestOf } from '../../src/shared/secrets.ts';
import { Browser, type View } from './browser.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  answerIn,
  authorization,
  challengeOf,
  queryOf,
  REDIRECT,
  VERIFIER,
} from './people.ts';
import { BASE_URL, type OAuthService, START, startOAuth } from './service.ts';

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
  await addBuilder(service, 'buil_a', { name: 'Harbour & <Sons>', logoKey: 'logos/buil_a/a.png' });
  await addBuilder(service, 'buil_b', { name: 'Bay Build', logoUrl: 'https://logos.example/b.png' });
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
afterAll(() => service?.close());

const REQUEST = authorization('cli_app');

async function arrive(user: string, changes: Record<string, string | undefined> = {}, clientId = 'cli_app') {
  const browser = new Browser(service.app);
  const page = await browser.open(authorization(clientId, changes));
  return { browser, view: await browser.signIn(page, `${user}@example.com`) };
}

const textOf = (view: View) => view.body.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');

describe('consent', () => {
  test('with a single builder it is selected, and the page says who gets what, for which company (OAU-22)', async () => {
    const { view } = await arrive('user_one', { scope: 'read:projects write:photos' });
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

  test('has words for every scope that an integrator may ask for', () => {
    expect(Object.keys(SCOPE_WORDS).sort()).toEqual([...SCOPES].sort());
    for (const { words } of Object.values(SCOPE_WORDS)) expect(words).not.toMatch(/read:|write:/);
  });

  test('says one hour where the client cannot refresh', async () => {
    expect(textOf((await arrive('user_one', {}, 'cli_once')).view)).toContain('for one hour');
  });

  test("shows the company's logo by its signed URL", async () => {
    const { view } = await arrive('user_one');
    expect(view.body).toMatch(`src="${BASE_URL}/storage/au1/logos/buil_a/a.png?`);
    expect(view.body).toMatch(/logos\/buil_a\/a\.png\?[^"]*signature=/);
    expect(view.headers['content-security-policy']).toContain(`img-src 'self' ${BASE_URL};`);
  });

  test('names no image on another host, whatever address was imported', async () => {
    const { view } = await arrive('user_many');
    expect(view.body).toContain('Bay Build');
    expect(view.body).not.toContain('logos.example');
    expect(view.headers['content-security-policy']).not.toContain('logos.example');
  });

  test('lets the form end at the scheme that it will be redirected to', async () => {
    const target = async (redirect_uri: string, clientId = 'cli_native') => {
      const { view } = await arrive('user_one', { redirect_uri }, clientId);
      return /form-action ([^;]*);/.exec(String(view.headers['content-security-policy']))?.[1];
    };
    expect(await target('com.example.app:/cb')).toBe("'self' com.example.app:");
    expect(await target('http://127.0.0.1:8977/cb')).toBe("'self' http: https:");
    expect(await target(REDIRECT, 'cli_app')).toBe("'self' https:");
  });

  test('given sends a code, the state and the issuer; the database holds digests and all that binds it (OAU-41)', async () => {
    const { browser, view } = await arrive('user_one');
    const done = await browser.press(view, 'Allow');
    expect(done.status).toBe(303);
    expect(done.location!.startsWith(`${REDIRECT}?`)).toBe(true);
    const answer = answerIn(done.location!);
    expect(answer).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/), state: REQUEST.state, iss: BASE_URL });
    const em = service.databases.au1.fork();
    const stored = await em.findOneOrFail(AuthorizationCode, { digest: digestOf(answer.code!) });
    expect(stored).toMatchObject({
      ...{ redirectUri: REDIRECT, codeChallenge: challengeOf(VERIFIER), codeChallengeMethod: 'S256', usedAt: null },
      expiresAt: new Date(START + 600_000).toISOString(),
    });
    expect(await em.findOneOrFail(TokenFamily, { id: stored.familyId })).toMatchObject({
      ...{ clientId: 'cli_app', userId: 'user_one', builderId: 'buil_a', scopes: ['read:builders', 'read:projects'] },
    });
    expect(await em.count(AuthorizationCode, { digest: answer.code! })).toBe(0);
  });

  test('denied sends access_denied, and no code is made (OAU-24)', async () => {
    const { browser, view } = await arrive('user_one');
    const before = await service.databases.au1.fork().count(AuthorizationCode);
    const done = await browser.press(view, 'deny');
    expect(done.status).toBe(303);
    expect(answerIn(done.location!)).toEqual({
      ...{ error: 'access_denied', error_description: 'The user did not allow it.' },
      ...{ state: REQUEST.state, iss: BASE_URL },
    });
    expect(await service.databases.au1.fork().count(AuthorizationCode)).toBe(before);
  });

  test('is asked for each time (OAU-24)', async () => {
    const { browser, view } = await arrive('user_one');
    await browser.press(view, 'Allow');
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
  });

  test('of a user in us1 takes the region from the client', async () => {
    const { browser, view } = await arrive('user_us', {}, 'cli_us');
    expect(view.heading).toBe('Allow Client cli_us to use the data of Mesa Build?');
    const { code } = answerIn((await browser.press(view, 'Allow')).location!);
    expect(await service.databases.us1.fork().count(AuthorizationCode, { digest: digestOf(code!) })).toBe(1);
    expect(browser.cookies.has('session-us1')).toBe(true);
    expect(browser.cookies.has('session-au1')).toBe(false);
    // The session of one region opens nothing in the other.
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
  });

  test('of a signed-in user of one region is not asked in the other', async () => {
    const browser = new Browser(service.app);
    const view = await browser.signIn(await browser.open(authorization('cli_us')), 'user_one@example.com');
    expect(view.body).toContain('The e-mail or the password is not right.');
  });
});

describe('selection', () => {
  test('with several builders shows them all, and why some cannot be chosen (OAU-22, OAU-23)', async () => {
    const { view } = await arrive('user_many');
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

  test('leads to the consent for that company, and back', async () => {
    const { browser, view } = await arrive('user_many');
    const consent = await browser.press(view, 'Continue', { builder_id: 'buil_b' });
    expect(consent.heading).toBe('Allow Snap <Site> to use the data of Bay Build?');
    expect(textOf(consent)).toContain('Your other companies stay closed to it.');
    const again = await browser.press(consent, 'Choose another company');
    expect(again.heading).toBe('Choose a company');
    const done = await browser.press(await browser.press(again, 'Continue', { builder_id: 'buil_a' }), 'Allow');
    const { code, state } = answerIn(done.location!);
    expect(state).toBe(REQUEST.state);
    const em = service.databases.au1.fork();
    const { familyId } = await em.findOneOrFail(AuthorizationCode, { digest: digestOf(code!) });
    expect((await em.findOneOrFail(TokenFamily, { id: familyId })).builderId).toBe('buil_a');
  });

  test('is skipped where builder_id pre-selects one that can be chosen (OAU-22)', async () => {
    expect((await arrive('user_many', { builder_id: 'buil_b' })).view.heading).toMatch(/data of Bay Build/);
  });

  test.each(['buil_few', 'buil_none', 'buil_stranger'])(
    'is shown where builder_id names %s (OAU-22)',
    async (builder_id) => {
      const { view } = await arrive('user_many', { builder_id });
      expect(view.heading).toBe('Choose a company');
      expect(textOf(view)).toContain('asked for a company that you cannot choose');
    },
  );

  test('is shown, not skipped, where builder_id names another than the only one', async () => {
    const { view } = await arrive('user_one', { builder_id: 'buil_b' });
    expect(view.heading).toBe('Choose a company');
  });

  test('of nothing without a choice is an incomplete form', async () => {
    const { browser, view } = await arrive('user_many');
    const { status, location } = await browser.press(view, 'Continue');
    expect([status, location]).toEqual([400, null]);
  });

  test('cancelled sends access_denied', async () => {
    const { browser, view } = await arrive('user_many');
    expect(answerIn((await browser.press(view, 'Cancel')).location!)).toMatchObject({ error: 'access_denied' });
  });
});

describe('without a builder that can be chosen', () => {
  test('the only connection allows less: the application is told at once (OAU-23)', async () => {
    const { view } = await arrive('user_few');
    expect(answerIn(view.location!)).toMatchObject({ error: 'invalid_scope', state: REQUEST.state, iss: BASE_URL });
    expect((await arrive('user_few', { scope: 'read:builders' })).view.heading).toMatch(/^Allow/);
  });

  test.each([
    ['several, one of which allows less', 'user_closed', 'invalid_scope'],
    ['one that is not connected', 'user_none', 'access_denied'],
    ['none at all', 'user_nowhere', 'access_denied'],
  ])('%s: a page says why, and goes back', async (_name, user, error) => {
    const { browser, view } = await arrive(user);
    expect(view.heading).toBe('No company can be chosen');
    expect(view.body).not.toContain('value="allow"');
    const done = await browser.press(view, 'leave');
    expect(answerIn(done.location!)).toMatchObject({ error, state: REQUEST.state });
  });
});

describe('a form that was tampered with', () => {
  const post = async (user: string, fields: Record<string, string>, changes: Record<string, string> = {}) => {
    const { browser } = await arrive(user);
    const csrf = csrfTokenOf(browser.cookies.get('session-au1')!);
    const query = queryOf(authorization('cli_app', changes));
    return browser.send('POST', `/oauth/authorize?${query}`, queryOf({ csrf, ...fields }));
  };

  test.each([
    ['a builder that the user is no member of', 'user_one', 'buil_b', 'access_denied'],
    ['a builder that is not connected', 'user_many', 'buil_none', 'access_denied'],
    ['a builder whose connection allows less', 'user_many', 'buil_few', 'invalid_scope'],
    ['a builder that does not exist', 'user_one', 'buil_nothing', 'access_denied'],
  ])('consents for %s', async (_name, user, builder_id, error) => {
    const view = await post(user, { action: 'allow', builder_id });
    expect(answerIn(view.location!)).toMatchObject({ error, state: REQUEST.state });
  });

  test('asks for another action, or consents for no builder', async () => {
    for (const fields of [
      { action: 'everything', builder_id: 'buil_a' },
      { builder_id: 'buil_a' },
      { action: 'allow' },
    ]) {
      const view = await post('user_one', fields as unknown as Record<string, string>);
      expect([view.status, view.location]).toEqual([400, null]);
    }
  });

  test('names another redirect URI in its address', async () => {
    const view = await post(
      'user_one',
      { action: 'allow', builder_id: 'buil_a' },
      { redirect_uri: 'https://evil.example/' },
    );
    expect([view.status, view.location]).toEqual([400, null]);
  });

  test('asks for more scopes in its address than the client has', async () => {
    const view = await post('user_one', { action: 'allow', builder_id: 'buil_a' }, { scope: 'read:attendance' });
    expect(answerIn(view.location!)).toMatchObject({ error: 'invalid_scope' });
  });

  test('comes after the connection was revoked', async () => {
    const { browser, view } = await arrive('user_one');
    const em = service.databases.au1.fork();
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'REVOKED' });
    const done = await browser.press(view, 'Allow');
    await em.nativeUpdate(Connection, { builderId: 'buil_a' }, { status: 'ACTIVE' });
    expect(answerIn(done.location!)).toMatchObject({ error: 'access_denied' });
  });

  test('comes after the session has ended: the user signs in again', async () => {
    const { browser, view } = await arrive('user_one');
    service.clock.at += 12 * 3_600_000;
    const page = await browser.press(view, 'Allow');
    service.clock.at = START;
    expect(page.heading).toBe('Sign in');
  });
});

describe('nowhere else', () => {
  test.each(['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)'])(
    'signing in or out does not redirect to %s, however it is asked to',
    async (target) => {
      const { browser, view } = await arrive('user_one');
      const extra = queryOf({ next: target, return_to: target, post_logout_redirect_uri: target, redirect: target });
      for (const path of ['/oauth/sign-in', '/oauth/signed-out']) {
        const { location, body } = await browser.send('GET', `${path}?${extra}`);
        expect(location === null || location.startsWith('/oauth/authorize?')).toBe(true);
        expect(body).not.toContain(`href="${target}`);
      }
      const form = view.forms.find(({ action }) => action.startsWith('/oauth/sign-out'))!;
      const out = await browser.send('POST', `${form.action}&${extra}`, queryOf(form.fields));
      expect(out.location).toMatch(/^\/oauth\/signed-out\?/);
    },
  );
});

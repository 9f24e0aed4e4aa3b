import { beforeAll, describe, expect, it } from 'vitest';
import { User } from '../../../entities/user.entity.ts';
import { PAGES } from '../../../src/console/browser/layout/pages.ts';
import { toReturnPath } from '../../../src/console/server/session/return-path.ts';
import { createCheapHash, PASSWORD } from '../../oauth/fixtures.ts';
import { addStaff, ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';

const service = useService();
let viewerEmail: string;
let adminEmail: string;
let usEmail: string;

beforeAll(async () => {
  viewerEmail = await addStaff(service, 'VIEWER');
  await addStaff(service, 'OPERATOR', { id: 'user_both' });
  adminEmail = await addStaff(service, 'ADMIN', { id: 'user_both', region: 'us1' });
  usEmail = await addStaff(service, 'OPERATOR', { id: 'user_american', region: 'us1' });
});

const ME = '{ me { id name email role regionId regions actions scopes expiresAt } }';
const HOUR = 3_600_000;

const updateUser = (id: string, values: Partial<User>) =>
  service.databases.au1.fork().nativeUpdate(User, { id }, values);

describe('the sign-in of staff users', () => {
  it('sets a cookie for the console alone, which lasts 12 hours (CON-1)', async () => {
    const browser = new ConsoleBrowser(service.app);
    const page = await browser.send('GET', '/console/sign-in?return=/console/people');
    expect(page).toMatchObject({ status: 200, heading: 'Sign in' });
    const response = await browser.submitWithoutFollowing(page, 'Sign in', { email: viewerEmail, password: PASSWORD });
    expect(response).toMatchObject({ status: 303, location: '/console/people?region=au1' });
    expect(String([response.headers['set-cookie']].flat().at(-1))).toMatch(
      /^console-au1=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    const { data } = await browser.query(ME);
    expect(data.me).toMatchObject({ email: viewerEmail, role: 'VIEWER', regionId: 'au1', regions: ['au1'] });
    expect(data.me.scopes).not.toContain('read:attendance');
    expect(data.me.expiresAt).toBe(new Date(service.clock.now() + 12 * HOUR).toISOString());
  });

  it.each([
    'https://evil.example',
    '//evil.example',
    '/oauth/authorize',
    '/console//evil.example',
    '/console\\evil',
    '/console/..//evil.example',
    '/console/../../evil.example',
    '/console/%2e%2e/oauth/authorize',
    '/console/./.%2E//evil.example',
    '/console/today/..\\..\\\\evil.example',
    '/console/integrations/..',
    '/console/sign-in',
    '/console/graphql',
    '/consolex',
    'javascript:alert(1)',
    '\t//evil.example',
  ])('returns to the console, whatever the query names: %s', async (path) => {
    const browser = new ConsoleBrowser(service.app);
    const page = await browser.send('GET', `/console/sign-in?${new URLSearchParams({ return: path })}`);
    const response = await browser.submitWithoutFollowing(page, 'Sign in', { email: viewerEmail, password: PASSWORD });
    expect(response.location).toBe('/console?region=au1');
  });

  it('returns to each page of the console', () => {
    const paths = [...PAGES.map(({ path }) => path), '/integrations/intg_a1'];
    const toReturn = (path: string) => toReturnPath(`/console${path}?region=au1&show=open`);
    expect(paths.map((path) => toReturn(path).pathname)).toEqual(paths.map((path) => `/console${path}`));
    expect(toReturn('/attendance').search).toBe('?region=au1&show=open');
  });

  it('rejects a wrong password, and a member of a builder (CON-1)', async () => {
    const member = service.findDemoUser(({ regionId }) => regionId === 'au1');
    for (const [email, password] of [
      [viewerEmail, 'wrong'],
      [member.email, member.password],
    ]) {
      const browser = new ConsoleBrowser(service.app);
      const page = await browser.send('GET', '/console/sign-in');
      expect(await browser.signIn(page, email!, password)).toMatchObject({ status: 400 });
      expect([...browser.cookies.keys()]).toEqual(['session-au1']);
      expect((await browser.query(ME)).status).toBe(401);
    }
  });

  it('signs a staff user of both regions in to both, with the role of each (CON-4)', async () => {
    const browser = await signInToConsole(service.app, adminEmail);
    const regions = ['au1', 'us1'];
    expect((await browser.query(ME)).data.me).toMatchObject({ role: 'OPERATOR', regionId: 'au1', regions });
    const inUs = await browser.query(ME, {}, { 'x-service-region-id': 'us1' });
    expect(inUs.data.me).toMatchObject({ role: 'ADMIN', regionId: 'us1', regions });
  });

  it.each([
    ['us1', '/console/today?builder=buil_a&region=au1', '/console/today?region=us1'],
    ['us1', '/console/today?show=pending', '/console/today?show=pending&region=us1'],
    ['us1', '/console/today?region=us1&show=pending', '/console/today?region=us1&show=pending'],
    ['both', '/console/today?region=us1', '/console/today?region=us1'],
    ['both', '/console/today', '/console/today'],
  ])('returns a user of %s from %s to %s (CON-1)', async (account, path, location) => {
    const browser = new ConsoleBrowser(service.app);
    const page = await browser.send('GET', `/console/sign-in?${new URLSearchParams({ return: path })}`);
    const fields = { email: account === 'both' ? adminEmail : usEmail, password: PASSWORD };
    expect((await browser.submitWithoutFollowing(page, 'Sign in', fields)).location).toBe(location);
  });

  it('ends the sessions of the previous user of the browser, in all regions (CON-1)', async () => {
    const browser = await signInToConsole(service.app, adminEmail);
    const former = new ConsoleBrowser(service.app);
    for (const [name, value] of browser.cookies) former.cookies.set(name, value);
    const page = await browser.send('GET', '/console/sign-in');
    await browser.submitWithoutFollowing(page, 'Sign in', { email: viewerEmail, password: PASSWORD });
    expect((await browser.query(ME)).data.me).toMatchObject({ email: viewerEmail, regions: ['au1'] });
    for (const each of [browser, former]) {
      expect((await each.query(ME, {}, { 'x-service-region-id': 'us1' })).status).toBe(401);
    }
    expect((await former.query(ME)).status).toBe(401);
  });

  it('is not delayed by guesses elsewhere, in the region that has the account (OAU-27)', async () => {
    const email = await addStaff(service, 'VIEWER', { id: 'user_guessed' });
    const known = await signInToConsole(service.app, email);
    for (let count = 0; count < 12; count++) {
      const other = new ConsoleBrowser(service.app, `198.51.100.${count}`);
      const page = await other.send('GET', '/console/sign-in');
      await other.submitWithoutFollowing(page, 'Sign in', { email, password: 'a wrong guess' });
    }
    known.cookies.delete('console-au1');
    const page = await known.send('GET', '/console/sign-in');
    const response = await known.submitWithoutFollowing(page, 'Sign in', { email, password: PASSWORD });
    expect(response.status).toBe(303);
  });

  it('is no session of the pages for users, and theirs is none of the console (ACC-26)', async () => {
    const browser = await signInToConsole(service.app, viewerEmail);
    expect((await browser.send('GET', '/account/applications')).heading).toBe('Sign in');
    const member = service.findDemoUser(({ regionId }) => regionId === 'au1');
    const other = new ConsoleBrowser(service.app);
    await other.signIn(await other.send('GET', '/account/applications'), member.email, member.password);
    other.cookies.set('console-au1', other.cookies.get('session-au1')!);
    expect((await other.query(ME)).status).toBe(401);
  });
});

describe('a session of the console', () => {
  it('ends after 12 hours (CON-2)', async () => {
    const email = await addStaff(service, 'VIEWER', { id: 'user_late' });
    const browser = await signInToConsole(service.app, email);
    service.clock.advance(12 * HOUR - 1);
    expect((await browser.query(ME)).status).toBe(200);
    service.clock.advance(1);
    expect(await browser.query(ME)).toMatchObject({
      status: 401,
      errors: [{ extensions: { code: 'UNAUTHENTICATED' } }],
    });
  });

  it.each([
    ['a new password', { passwordHash: createCheapHash('another password') }],
    ['disabling the user', { disabledAt: '2026-06-01T00:00:00.000Z' }],
    ['revocation of the role', { staffRole: null }],
  ])('ends with %s, at the next request (CON-2)', async (_, values) => {
    const id = `user_x${Object.keys(values)[0]!.toLowerCase()}`;
    const browser = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id }));
    expect((await browser.query(ME)).status).toBe(200);
    await updateUser(id, values as Partial<User>);
    expect((await browser.query(ME)).status).toBe(401);
  });

  it('has the current role of the user (CON-2)', async () => {
    const browser = await signInToConsole(service.app, await addStaff(service, 'ADMIN', { id: 'user_lowered' }));
    await updateUser('user_lowered', { staffRole: 'VIEWER' });
    const { data, errors } = await browser.query('{ me { role } audit { data { id } } }');
    expect({ data, errors }).toMatchObject({ data: undefined, errors: [{ extensions: { code: 'FORBIDDEN' } }] });
    expect((await browser.query('{ me { role } }')).data.me.role).toBe('VIEWER');
  });

  it('ends in all regions when the user signs out, also for somebody who has the cookie (CON-2)', async () => {
    const browser = await signInToConsole(service.app, adminEmail);
    const thief = new ConsoleBrowser(service.app);
    for (const [name, value] of browser.cookies) thief.cookies.set(name, value);
    expect((await browser.query('mutation { signOut }')).data).toEqual({ signOut: true });
    for (const each of [browser, thief]) {
      for (const region of ['au1', 'us1']) {
        expect((await each.query(ME, {}, { 'x-service-region-id': region })).status).toBe(401);
      }
    }
  });
});

describe('/console/graphql', () => {
  it('rejects requests that a page of another site may have caused (CON-3)', async () => {
    const browser = await signInToConsole(service.app, viewerEmail);
    const cookie = `console-au1=${browser.cookies.get('console-au1')}`;
    const payload = { query: ME };
    const send = (headers: Record<string, string>, method: 'GET' | 'POST' = 'POST') =>
      service.request({
        method,
        url: '/console/graphql',
        headers: { cookie, ...headers },
        ...(method === 'POST' && { payload }),
      });
    expect((await send({})).statusCode).toBe(403);
    expect((await send({ 'x-console-csrf': '1', 'sec-fetch-site': 'cross-site' })).statusCode).toBe(403);
    expect((await send({ 'x-console-csrf': '1', 'sec-fetch-site': 'same-site' })).statusCode).toBe(403);
    expect((await send({ 'x-console-csrf': '1' }, 'GET')).statusCode).not.toBe(200);
    const allowed = await send({ 'x-console-csrf': '1', origin: 'https://app.example' });
    expect(allowed.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('accepts no access token (CON-3)', async () => {
    for (const name of ['A', 'internal']) {
      const headers = { authorization: `Bearer ${await service.tokenOf(name)}`, 'x-console-csrf': '1' };
      const response = await service.request({
        method: 'POST',
        url: '/console/graphql',
        headers,
        payload: { query: ME },
      });
      expect(response.statusCode).toBe(401);
    }
  });
});

describe('/graphql and REST', () => {
  it('read no cookie (CON-3)', async () => {
    const browser = await signInToConsole(service.app, viewerEmail);
    const cookie = `console-au1=${browser.cookies.get('console-au1')}`;
    const headers = { cookie, 'x-console-csrf': '1' };
    const graphql = await service.request({
      method: 'POST',
      url: '/graphql',
      headers,
      payload: { query: '{ me { id } }' },
    });
    expect(graphql.statusCode).toBe(401);
    expect((await service.request({ url: '/builders', headers })).statusCode).toBe(401);
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Session } from '../../entities/session.entity.ts';
import { Browser, type PageView } from '../oauth/browser.ts';
import { type Instance, startDeployment, type TestDeployment } from '../oauth/deployment.ts';
import { addBuilder, addUser, PASSWORD } from '../oauth/fixtures.ts';
import { OAUTH_START } from '../oauth/service.ts';
import { addReport } from './report-rows.ts';

let deployment: TestDeployment;
let instance: Instance;
let ownReportId: string;
let foreignReportId: string;
let usReportId: string;

beforeAll(async () => {
  deployment = await startDeployment();
  instance = await deployment.startInstance();
  await addBuilder(deployment, 'buil_a');
  await addBuilder(deployment, 'buil_b');
  await addBuilder(deployment, 'buil_u', { region: 'us1' });
  await addUser(deployment, 'user_a', ['buil_a']);
  await addUser(deployment, 'user_b', ['buil_b']);
  await addUser(deployment, 'user_both', ['buil_a']);
  await addUser(deployment, 'user_both', ['buil_u'], { region: 'us1' });
  await addUser(deployment, 'user_u', ['buil_u'], { region: 'us1' });
  ownReportId = await addReport(deployment.databases.au1, 'buil_a', 'Level 3');
  foreignReportId = await addReport(deployment.databases.au1, 'buil_b', 'Level 4');
  usReportId = await addReport(deployment.databases.us1, 'buil_u', 'Level 5');
});
afterAll(() => deployment?.close());

/** Each test has its own IP address, so that its failed sign-ins do not delay other tests. */
let addresses = 0;
const newBrowser = () => new Browser(instance.app, `198.51.100.${++addresses}`);

const open = async (browser: Browser, id: string) => browser.follow(await browser.send('GET', `/reports/${id}`));
const signIn = async (browser: Browser, id: string, user: string, password = PASSWORD) =>
  browser.signIn(await open(browser, id), `${user}@example.com`, password);
const outcome = ({ status, heading }: PageView) => [status, heading];

describe('/reports/{photoReportId}', () => {
  it('shows the sign-in form, and the report to a signed-in member (PRP-38)', async () => {
    const browser = newBrowser();
    const asked = await browser.send('GET', `/reports/${ownReportId}`);
    expect([asked.status, asked.location]).toEqual([303, `/reports/sign-in?to=${ownReportId}`]);
    const page = await browser.follow(asked);
    expect(outcome(page)).toEqual([200, 'Sign in']);
    expect(page.body).toContain('to read the photo report');
    expect(page.forms).toHaveLength(1);
    const answer = await browser.submitWithoutFollowing(page, 'Sign in', {
      email: 'user_a@example.com',
      password: PASSWORD,
    });
    expect([answer.status, answer.location]).toEqual([303, `/reports/${ownReportId}`]);
    expect(outcome(await browser.follow(answer))).toEqual([200, 'Level 3']);
    // One sign-in is enough.
    expect(outcome(await open(browser, ownReportId))).toEqual([200, 'Level 3']);
    expect((await browser.send('GET', `/reports/sign-in?to=${ownReportId}`)).location).toBe(`/reports/${ownReportId}`);
  });

  // PRP-38
  it('is 404 for a member of another builder as for an unknown report, and shows the signed-in user', async () => {
    const browser = newBrowser();
    const refused = await signIn(browser, foreignReportId, 'user_a');
    expect(outcome(refused)).toEqual([404, 'Not found']);
    expect(refused.body).toContain('Signed in as <strong>Person user_a</strong>');
    const bare = (view: PageView, id: string) =>
      view.body
        .replaceAll(id, 'ID')
        .replace(/Reference: [\w-]+/, '')
        .replace(/value="[\w-]{43}"/g, '');
    const none = await open(browser, 'phrep_none');
    expect(outcome(none)).toEqual([404, 'Not found']);
    expect(bare(none, 'phrep_none')).toBe(bare(refused, foreignReportId));
  });

  // PRP-38
  it('shows the same sign-in form for an unknown report, to not disclose which exist', async () => {
    const [there, none] = [
      await newBrowser().send('GET', `/reports/${ownReportId}`),
      await newBrowser().send('GET', '/reports/phrep_none'),
    ];
    expect([there.status, there.location!.replace(ownReportId, 'ID')]).toEqual([
      none.status,
      none.location!.replace('phrep_none', 'ID'),
    ]);
  });

  it('opens a report of the other region to a person of that region (PRP-40)', async () => {
    const browser = newBrowser();
    expect(outcome(await signIn(browser, usReportId, 'user_u'))).toEqual([200, 'Level 5']);
    expect(outcome(await open(browser, ownReportId))).toEqual([404, 'Not found']);
  });

  it('opens the reports of both regions to a person whose password is the same in both (PRP-40)', async () => {
    const browser = newBrowser();
    expect(outcome(await signIn(browser, usReportId, 'user_both'))).toEqual([200, 'Level 5']);
    expect(outcome(await open(browser, ownReportId))).toEqual([200, 'Level 3']);
  });

  it('is 404 for a signed-in user whose membership has ended', async () => {
    await addUser(deployment, 'user_leaves', ['buil_a']);
    const browser = newBrowser();
    expect(outcome(await signIn(browser, ownReportId, 'user_leaves'))).toEqual([200, 'Level 3']);
    await deployment.databases.au1.fork().execute(`delete from membership where user_id = 'user_leaves'`);
    expect(outcome(await open(browser, ownReportId))).toEqual([404, 'Not found']);
  });

  it('shows the sign-in form after the session has expired', async () => {
    const browser = newBrowser();
    await signIn(browser, ownReportId, 'user_a');
    deployment.clock.at = OAUTH_START + 12 * 3_600_000;
    expect(outcome(await open(browser, ownReportId))).toEqual([200, 'Sign in']);
    deployment.clock.at = OAUTH_START;
  });
});

describe('signing out', () => {
  it('ends the sessions of all regions and redirects to the report (PRP-40)', async () => {
    const browser = newBrowser();
    const page = await signIn(browser, ownReportId, 'user_both');
    const before = new Map(browser.cookies);
    const left = await browser.submit(page, 'Sign out');
    expect(left.heading).toBe('You are signed out');
    expect(left.body).toContain(`href="/reports/${ownReportId}"`);
    for (const [name, value] of before) browser.cookies.set(name, value);
    for (const id of [ownReportId, usReportId]) expect(outcome(await open(browser, id))).toEqual([200, 'Sign in']);
  });

  it('allows another user to sign in from the 404 page', async () => {
    const browser = newBrowser();
    const refused = await signIn(browser, foreignReportId, 'user_a');
    await browser.submit(refused, 'Sign out');
    expect(outcome(await signIn(browser, foreignReportId, 'user_b'))).toEqual([200, 'Level 4']);
  });
});

describe('the form', () => {
  it('returns the same response for an unknown e-mail address and a wrong password', async () => {
    const browser = newBrowser();
    const [wrong, unknown] = [
      await signIn(browser, ownReportId, 'user_a', 'wrong'),
      await signIn(browser, ownReportId, 'nobody', PASSWORD),
    ];
    expect(wrong.status).toBe(400);
    expect(wrong.body).toContain('The e-mail or the password is not right.');
    expect(unknown.body.replace('nobody@', 'user_a@')).toBe(wrong.body);
  });

  it('is rejected without the CSRF token of the browser', async () => {
    const browser = newBrowser();
    const page = await open(browser, ownReportId);
    const body = new URLSearchParams({ email: 'user_a@example.com', password: PASSWORD });
    const sessions = () => deployment.databases.au1.fork().count(Session);
    const before = await sessions();
    const strange = (await open(newBrowser(), ownReportId)).forms[0]!.fields.csrf!;
    for (const csrf of [undefined, '', strange]) {
      const sent = new URLSearchParams(body);
      if (csrf !== undefined) sent.set('csrf', csrf);
      const answer = await browser.send('POST', page.forms[0]!.action, sent.toString());
      expect(outcome(answer)).toEqual([403, 'This page has expired']);
      expect(answer.body).toContain(`href="/reports/${ownReportId}"`);
    }
    expect(await sessions()).toBe(before);
    const out = await browser.send('POST', `/reports/sign-out?to=${ownReportId}`, 'a=b');
    expect(out.status).toBe(403);
  });

  it('issues a new session identifier, against session fixation', async () => {
    const browser = newBrowser();
    const page = await open(browser, ownReportId);
    const planted = browser.cookies.get('session-au1')!;
    await browser.signIn(page, 'user_a@example.com');
    expect(browser.cookies.get('session-au1')).not.toBe(planted);
    browser.cookies.set('session-au1', planted);
    expect(outcome(await open(browser, ownReportId))).toEqual([200, 'Sign in']);
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/reports/phrep_a',
    '../oauth/authorize',
    'phrep_a/../../x',
    'phrep_a%0d%0aLocation:%20https://evil.example',
    'PHREP_A',
    '',
    'phrep_a&to=phrep_b',
  ])('redirects only to a report: ?to=%s is 404', async (to) => {
    const browser = newBrowser();
    for (const path of ['sign-in', 'signed-out']) {
      const view = await browser.send('GET', `/reports/${path}?to=${to}`);
      expect(outcome(view)).toEqual([404, 'Not found']);
      expect(view.location).toBeNull();
      expect(view.body).not.toContain('evil');
    }
    const page = await open(browser, ownReportId);
    const { csrf } = page.forms[0]!.fields;
    const sent = new URLSearchParams({ csrf: csrf!, email: 'user_a@example.com', password: PASSWORD }).toString();
    for (const path of ['sign-in', 'sign-out']) {
      const view = await browser.send('POST', `/reports/${path}?to=${to}`, sent);
      expect([view.status, view.location]).toEqual([404, null]);
    }
    expect(outcome(await open(browser, ownReportId))).toEqual([200, 'Sign in']);
  });

  it('is delayed after ten failures, in all regions and for OAuth too', async () => {
    const browser = newBrowser();
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await signIn(browser, ownReportId, attempt % 2 ? 'user_a' : 'user_u', 'wrong')).status).toBe(400);
    }
    const slowed = await signIn(browser, ownReportId, 'user_a');
    expect([slowed.status, slowed.headers['retry-after']]).toEqual([429, '1']);
    expect(slowed.body).toContain('Too many attempts');
    const [{ attempts }] = (await deployment.databases.us1
      .fork()
      .execute('select max(failures)::int as attempts from oauth_sign_in_attempt')) as [{ attempts: number }];
    expect(attempts).toBe(10);
    deployment.clock.at += 1_000;
    expect(outcome(await signIn(browser, ownReportId, 'user_a'))).toEqual([200, 'Level 3']);
    deployment.clock.at = OAUTH_START;
  });

  it('counts no failure in a region without that e-mail address', async () => {
    for (let times = 0; times < 12; times++) {
      const browser = new Browser(instance.app, '198.51.100.250');
      expect((await signIn(browser, ownReportId, 'user_a')).status).toBe(200);
    }
  });
});

describe('another method', () => {
  it('is 405', async () => {
    for (const [method, path, allow] of [
      ['POST', `/reports/${ownReportId}`, 'GET, HEAD'],
      ['DELETE', `/reports/sign-in?to=${ownReportId}`, 'GET, HEAD, POST'],
      ['GET', `/reports/sign-out?to=${ownReportId}`, 'POST'],
    ] as const) {
      const answer = await instance.app.inject({ method, url: path });
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, allow]);
    }
  });
});

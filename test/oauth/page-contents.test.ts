import { describe, expect, it } from 'vitest';
import { createApplicationsPage } from '../../src/oauth/account/pages/applications.page.ts';
import {
  createChoosePasswordPage,
  createForgotPasswordPage,
  createLinkRequestedPage,
  createPasswordSavedPage,
} from '../../src/oauth/account/pages/password.page.ts';
import { createConsentPage } from '../../src/oauth/interaction/pages/consent.page.ts';
import { createErrorPage } from '../../src/oauth/interaction/pages/error.page.ts';
import { html } from '../../src/oauth/interaction/pages/html.ts';
import { type Page, renderPage } from '../../src/oauth/interaction/pages/layout.ts';
import { type BuilderChoice, createSelectBuilderPage } from '../../src/oauth/interaction/pages/select-builder.page.ts';
import { createSignInPage, type SignInState } from '../../src/oauth/interaction/pages/sign-in.page.ts';
import { createSignedOutPage } from '../../src/oauth/interaction/pages/signed-out.page.ts';

const context = { browserId: 'b', query: 'client_id=cli_a', clientName: 'SnapSite' };
const user = { id: 'user_a', name: 'Ana', email: 'ana@example.com' };

/** Returns the text that a reader sees. */
const textOf = ({ content }: Page) =>
  content.text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Scopes of an application, whether it can see anything, and whether it can change anything. */
const SCOPES: [string[], boolean, boolean][] = [
  [['read:projects'], true, false],
  [['write:photos'], false, true],
  [['read:projects', 'write:photos'], true, true],
];

/** Vendors of the application SnapSite, and whether a page names them. */
const VENDORS: [string | null, boolean][] = [
  [null, false],
  ['SnapSite', false],
  ['Site Sync', true],
];

describe('the page of applications (OAU-46)', () => {
  const anApplication = (changes: object = {}) => ({
    ...{ clientId: 'cli_a', clientName: 'SnapSite', vendor: null, builderId: 'buil_a', builderName: 'Harbour' },
    ...{ scopes: ['read:projects'], since: '2026-03-02T00:00:00Z', lastUsed: '2026-03-02T00:00:00Z' },
    ...{ regionId: 'au1' as const, ...changes },
  });
  const show = (changes: object = {}, revoked: string | null = null) =>
    textOf(createApplicationsPage(context, { user, applications: [anApplication(changes)], revoked }));

  it.each(SCOPES)('shows for the scopes %j what can be seen: %s, and changed: %s', (scopes, see, change) => {
    const text = show({ scopes });
    expect([/it can do See/.test(text), / Change /.test(text)]).toEqual([see, change]);
  });

  it.each(VENDORS)('names the vendor %s: %s', (vendor, isNamed) => {
    expect(show({ vendor }).includes('Made by')).toBe(isNamed);
  });

  it('says what was removed, and that nothing is left', () => {
    expect(show()).not.toMatch(/no longer has access|No application has access/);
    expect(show({}, 'Site Sync')).toContain('Site Sync no longer has access.');
    expect(textOf(createApplicationsPage(context, { user, applications: [], revoked: null }))).toContain(
      'No application has access.',
    );
  });
});

const aChoice = (changes: Partial<BuilderChoice> = {}): BuilderChoice => ({
  ...{ builderId: 'buil_a', builderName: 'Harbour', role: 'SITE_MANAGER', logoKey: null, logoUrl: null },
  ...{ allowedScopes: ['read:projects', 'write:photos'], ...changes },
});

describe('the consent page (OAU-24)', () => {
  const show = (changes: object = {}) =>
    textOf(
      createConsentPage(context, {
        ...{ user, choice: aChoice(), scopes: ['read:projects'], vendor: null, destination: 'app.example' },
        ...{ canRefresh: false, hasOtherBuilders: false, isAssistant: false, ...changes },
      }),
    );

  it.each(SCOPES)('shows for the scopes %j what can be seen: %s, and changed: %s', (scopes, see, change) => {
    const text = show({ scopes });
    expect([/be able to see/.test(text), /be able to make changes/.test(text)]).toEqual([see, change]);
  });

  it.each(VENDORS)('names the vendor %s: %s', (vendor, isNamed) => {
    expect(show({ vendor }).includes('SnapSite is made by')).toBe(isNamed);
  });

  it('says how long the access lasts, and offers other companies where there are some', () => {
    expect(show()).toMatch(/for one hour\./);
    expect(show({ canRefresh: true })).toMatch(/at least every 30 days\./);
    expect(show()).not.toMatch(/other compan/);
    expect(show({ hasOtherBuilders: true })).toMatch(/no access to your other companies\..*another company/);
  });
});

describe('the page of companies (OAU-23)', () => {
  const showPage = (choices: BuilderChoice[], isPreselectionInvalid = false) =>
    createSelectBuilderPage(context, { user, choices, scopes: ['write:photos'], isPreselectionInvalid });
  const suspended = aChoice({ builderId: 'buil_b', allowedScopes: null });

  it('selects the only company that can be chosen, and says why others cannot', () => {
    const reader = aChoice({ builderId: 'buil_c', allowedScopes: ['read:projects'] });
    const { content } = showPage([aChoice(), suspended, reader]);
    expect(
      content.text.match(/<input type="radio"[^>]*>/g)!.map((input) => / (checked|disabled)/.exec(input)?.[1]),
    ).toEqual(['checked', 'disabled', 'disabled']);
    expect(textOf({ content } as Page)).toMatch(/Site manager.*Not connected.*Does not share with this application/);
  });

  it('selects none of several', () => {
    expect(showPage([aChoice(), aChoice({ builderId: 'buil_d' })]).content.text).not.toMatch(/ checked| disabled/);
  });

  it('leads back to the application where none can be chosen', () => {
    expect(textOf(showPage([suspended]))).toMatch(
      /^No company can be chosen .*set up the connection\. Go back to SnapSite/,
    );
    expect(textOf(showPage([]))).toMatch(/You are not a member of any company here/);
  });

  it('says that a company was preselected which cannot be chosen', () => {
    const note = /asked for a company that you cannot choose/;
    expect(textOf(showPage([aChoice()], true))).toMatch(note);
    expect(textOf(showPage([aChoice()]))).not.toMatch(note);
  });
});

const signInTarget = { path: '/oauth/sign-in', purpose: html`to continue`, offersReset: false };

describe('the sign-in page', () => {
  const show = (state: SignInState, changes: object = {}) =>
    createSignInPage(context, { ...signInTarget, ...changes }, state);
  const throttled = (seconds: number) => textOf(show({ email: 'a', problem: { kind: 'throttled', seconds } }));

  it.each([
    [1, '1 second'],
    [2, '2 seconds'],
    [89, '89 seconds'],
    [90, '2 minutes'],
    [900, '15 minutes'],
  ])('says how long to wait after too many attempts: %i is %s (OAU-27)', (seconds, duration) => {
    expect(throttled(seconds)).toContain(`Wait ${duration}, then try again.`);
  });

  it('focuses the first empty field, and marks both after wrong ones', () => {
    const fieldsOf = ({ content }: Page) => {
      const inputs = content.text.match(/<input id[^>]*>/g)!;
      return inputs.map((input) => [/ autofocus/.test(input), / aria-invalid="true"/.test(input)]);
    };
    expect(fieldsOf(show({ email: '', problem: null }))).toEqual([
      [true, false],
      [false, false],
    ]);
    expect(fieldsOf(show({ email: 'a@example.com', problem: { kind: 'rejected' } }))).toEqual([
      [false, true],
      [true, true],
    ]);
  });

  it('offers a new password where links can be sent', () => {
    expect(textOf(show({ email: '', problem: null }))).not.toContain('Forgot your password?');
    expect(textOf(show({ email: '', problem: null }, { offersReset: true }))).toContain('Forgot your password?');
  });
});

describe('the page of an error', () => {
  const anError = ({ detail = null, retryUrl }: { detail?: string | null; retryUrl?: string } = {}) =>
    createErrorPage({ title: 'The link does not work', message: 'Go back.', detail }, 'req-1', retryUrl);

  it('has a link to try again and the detail for developers, where there are any', () => {
    expect(textOf(anError())).toBe('The link does not work Go back. Reference: req-1');
    expect(anError({ retryUrl: '/oauth/authorize?a=b' }).content.text).toContain(
      'href="/oauth/authorize?a=b">Try again',
    );
    expect(textOf(anError({ detail: 'No client_id.' }))).toContain(
      'For the developers of the application: No client_id.',
    );
  });

  it('is narrow, as every page with one short form or message', () => {
    const short = [
      ...[anError(), createChoosePasswordPage(context, user, null), createPasswordSavedPage()],
      ...[createForgotPasswordPage(context), createLinkRequestedPage(), createSignedOutPage(null)],
      createSignInPage(context, signInTarget, { email: '', problem: null }),
    ];
    for (const page of short) expect(renderPage(page), page.title).toContain('<body class="narrow">');
    const applications = createApplicationsPage(context, { user, applications: [], revoked: null });
    expect(renderPage(applications)).toContain('<body>');
  });
});

describe('the form for choosing a password', () => {
  it('marks both fields and describes the problem after an unusable password', () => {
    const first = createChoosePasswordPage(context, user, null);
    expect([first.title, first.content.text.match(/aria-invalid/g)]).toEqual(['Choose a password', null]);
    expect(first.content.text).toContain('aria-describedby="rules"');
    const second = createChoosePasswordPage(context, user, 'It is too short.');
    expect([second.title, second.content.text.match(/aria-invalid/g)!.length]).toEqual(['Error: choose a password', 2]);
    expect(second.content.text).toContain('aria-describedby="problem rules"');
    expect(textOf(second)).toContain('It is too short.');
  });
});

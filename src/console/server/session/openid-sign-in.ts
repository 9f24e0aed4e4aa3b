import type { FastifyReply } from 'fastify';
import * as openid from 'openid-client';
import { findStaffUser, isSuccessor } from '../../../domain/access/staff-identities.ts';
import { PageError } from '../../../oauth/interaction/page-error.ts';
import { html } from '../../../oauth/interaction/pages/html.ts';
import { toIdentityCredential } from '../../../oauth/interaction/sessions.ts';
import { REGIONS } from '../../../shared/regions.ts';
import { newSecret } from '../../../shared/secrets.ts';
import { deriveChecks } from './openid-checks.ts';
import type { OpenIdProvider } from './openid-provider.ts';
import type { SignInRequest } from './sign-in-request.ts';

/** The cookie of the sign-in is for all regions. */
const [COOKIE_REGION] = REGIONS;

/** Sends the browser to the provider. CON-19. */
export async function startOpenIdSignIn(page: SignInRequest, provider: OpenIdProvider): Promise<FastifyReply> {
  const secret = newSecret();
  const url = await provider.createUrl(deriveChecks(secret, page.returnPath)).catch(throwPageError(page));
  page.cookies.set('openid', COOKIE_REGION, secret);
  return page.redirect(url);
}

/**
 * Answers the provider's redirect with a page that continues at `/console/sign-in/finish`: the browser sends the strict cookies of the console,
 * which end the sessions before, only to a request that our own page makes.
 */
export function continueOpenIdSignIn(page: SignInRequest): FastifyReply {
  const url = `/console/sign-in/finish?${readQuery(page)}`;
  page.reply.header('Refresh', `0; url=${url}`);
  return page.show({
    title: 'Signing in',
    narrow: true,
    content: html`<h1>Signing in</h1><p><a class="button" href="${url}">Continue to the console</a></p>`,
  });
}

/** Signs in to each region in which the person of the provider's answer is a staff user. CON-19. */
export async function finishOpenIdSignIn(page: SignInRequest, provider: OpenIdProvider): Promise<FastifyReply> {
  const secret = page.cookies.read('openid', COOKIE_REGION);
  if (secret === null) throw signInExpired();
  page.cookies.delete('openid', COOKIE_REGION);
  const checks = deriveChecks(secret, page.returnPath);
  if ((page.request.query as { state?: unknown }).state !== checks.state) throw signInExpired();
  const identity = await provider.identify(readQuery(page), checks).catch(throwPageError(page));
  const contexts = page.databases.map((database) => page.createChangeContext(database, null));
  const mayBind = !(await isSuccessor(contexts, identity));
  let count = 0;
  for (const context of contexts) {
    const { database } = context;
    const userId = await findStaffUser(context, identity, mayBind);
    if (userId === null) continue;
    const credential = toIdentityCredential(identity.issuer, identity.subject);
    await page.startSession(database, { id: userId, credential });
    page.request.log.info({ region: database.region, userId }, 'signed in');
    count += 1;
  }
  if (count === 0) {
    page.request.log.warn({ issuer: identity.issuer }, 'sign-in refused: not a staff user');
    throw notStaff(identity.email !== null);
  }
  return page.resume();
}

const readQuery = (page: SignInRequest): string => page.request.url.split('?')[1] ?? '';

/** Returns a function that throws the page for an error of the provider or of its answer. */
const throwPageError =
  (page: SignInRequest) =>
  (error: unknown): never => {
    page.request.log.warn({ err: error }, 'sign-in at the OpenID Connect provider failed');
    const isUsed = error instanceof openid.ResponseBodyError && error.error === 'invalid_grant';
    throw isUsed || error instanceof openid.AuthorizationResponseError ? signInExpired() : providerFailed();
  };

const signInExpired = () =>
  new PageError(
    400,
    'You are not signed in',
    'The sign-in was cancelled, took longer than ten minutes, was used already, or began in another tab.',
    true,
  );

const providerFailed = () =>
  new PageError(
    503,
    'The sign-in service does not answer',
    'Your company’s sign-in service could not be reached, or its answer was not valid. Wait a little, then try again.',
    true,
  );

const notStaff = (hasEmail: boolean) =>
  new PageError(
    403,
    'You have no access to the console',
    hasEmail
      ? 'No staff user has your e-mail address, or the user is bound to another identity. Ask an administrator of this service to add you, or to set your e-mail address again.'
      : 'Your company’s sign-in service has not verified your e-mail address. Ask its administrators to verify it, then try again.',
    true,
  );

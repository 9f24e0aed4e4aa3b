import type { FastifyPluginAsync, FastifyReply } from 'fastify';
import { toAuditOrigin } from '../audit-origin.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { configurePages, registerPages } from '../interaction/configure-pages.ts';
import { createSignedOutPage } from '../interaction/pages/signed-out.page.ts';
import { signIn, signOut } from '../interaction/sign-in.ts';
import { AccountRequest } from './account-request.ts';
import { revokeApplication, showApplications } from './applications.ts';
import { choosePassword, showPasswordForm } from './choose-password.ts';
import { createForgotPasswordPage, createLinkRequestedPage, createPasswordSavedPage } from './pages/password.page.ts';

/** Creates the Fastify plugin with the pages of a user's own account. They work without JavaScript. */
export function createAccountPagesPlugin(dependencies: OAuthDependencies): FastifyPluginAsync {
  return async (app) => {
    configurePages(app, dependencies.limitPageRequest, ({ url }) =>
      url.startsWith('/account/applications') || url.startsWith('/account/sign') ? '/account/applications' : null,
    );
    registerPages<AccountRequest>(
      app,
      (handle) => async (request, reply) => handle(new AccountRequest(dependencies, request, reply)),
      {
        '/account/applications': { get: (page) => showApplications(page), post: revokeApplication },
        '/account/sign-in': { get: (page) => page.resume(), post: signIn },
        '/account/sign-out': { post: signOut },
        '/account/signed-out': { get: (page) => page.show(createSignedOutPage(page.resumeUrl)) },
        '/account/password': { get: showPasswordForm, post: choosePassword },
        '/account/password-saved': { get: (page) => page.show(createPasswordSavedPage()) },
        ...(dependencies.passwordResets && {
          '/account/forgot-password': {
            get: (page) => page.show(createForgotPasswordPage(page.formContext())),
            post: requestPasswordLink,
          },
        }),
      },
    );
  };
}

async function requestPasswordLink(page: AccountRequest): Promise<FastifyReply> {
  const email = page.verifiedFields().get('email') ?? '';
  const { request, dependencies } = page;
  await dependencies.limitPasswordReset?.(request);
  const isQueued = dependencies.passwordResets?.add(email, toAuditOrigin(request));
  if (!isQueued) request.log.error('password reset not queued: the mail queue is full');
  return page.show(createLinkRequestedPage());
}

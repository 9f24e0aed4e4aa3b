import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { configurePages } from '../interaction/configure-pages.ts';
import { createSignedOutPage } from '../interaction/pages/signed-out.page.ts';
import { signIn, signOut } from '../interaction/sign-in.ts';
import { AccountRequest } from './account-request.ts';
import { revokeApplication, showApplications } from './applications.ts';
import { choosePassword, showPasswordForm } from './choose-password.ts';
import { createPasswordSavedPage } from './pages/choose-password.page.ts';
import { createForgotPasswordPage, createLinkRequestedPage } from './pages/forgot-password.page.ts';

/** Creates the Fastify plugin with the pages of a user's own account. They work without JavaScript. */
export function createAccountPagesPlugin(dependencies: OAuthDependencies): FastifyPluginAsync {
  const { passwordResets, limitPasswordReset } = dependencies;
  return async (app) => {
    const createHandler =
      (handle: (page: AccountRequest) => Promise<FastifyReply> | FastifyReply) =>
      async (request: FastifyRequest, reply: FastifyReply) =>
        handle(new AccountRequest(dependencies, request, reply));
    configurePages(app, dependencies.limitPageRequest, ({ url }) =>
      url.startsWith('/account/applications') || url.startsWith('/account/sign') ? '/account/applications' : null,
    );
    app.get(
      '/account/applications',
      createHandler((page) => showApplications(page)),
    );
    app.post('/account/applications', createHandler(revokeApplication));
    app.get('/account/sign-in', async (_request, reply) => reply.redirect('/account/applications', 303));
    app.post('/account/sign-in', createHandler(signIn));
    app.post('/account/sign-out', createHandler(signOut));
    app.get(
      '/account/signed-out',
      createHandler((page) => page.show(createSignedOutPage('/account/applications'))),
    );
    app.get('/account/password', createHandler(showPasswordForm));
    app.post('/account/password', createHandler(choosePassword));
    app.get(
      '/account/password-saved',
      createHandler((page) => page.show(createPasswordSavedPage())),
    );
    rejectOtherMethods(app, [
      ...['/account/applications', '/account/sign-in', '/account/sign-out', '/account/signed-out'],
      ...['/account/password', '/account/password-saved'],
    ]);
    if (passwordResets) {
      app.get(
        '/account/forgot-password',
        createHandler((page) => page.show(createForgotPasswordPage(page.formContext()))),
      );
      app.post(
        '/account/forgot-password',
        createHandler(async (page) => {
          const email = page.verifiedFields().get('email') ?? '';
          const { request } = page;
          await limitPasswordReset?.(request);
          const isQueued = passwordResets.add({ email, address: request.ip, requestId: request.id });
          if (!isQueued) request.log.error('password reset not queued: the mail queue is full');
          return page.show(createLinkRequestedPage());
        }),
      );
      rejectOtherMethods(app, ['/account/forgot-password']);
    }
  };
}

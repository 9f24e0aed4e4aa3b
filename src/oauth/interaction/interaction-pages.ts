import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { parseFormPairs } from '../parameters.ts';
import { type AuthorizationInteraction, createInteractionHandler } from './authorization-interaction.ts';
import { configurePages, registerPages } from './configure-pages.ts';
import { icon, registerAssets, stylesheet } from './pages/assets.ts';
import { createSignedOutPage } from './pages/signed-out.page.ts';
import { showPrompt, submitPrompt } from './prompts.ts';
import { sendPage } from './send-page.ts';
import { signIn, signOut } from './sign-in.ts';

/** Creates the Fastify plugin with the sign-in, selection and consent pages, which work without JavaScript. */
export function interactionPagesPlugin(dependencies: OAuthDependencies): FastifyPluginAsync {
  return async (app) => {
    configurePages(app, dependencies.limitPageRequest, toAuthorizationUrl);
    app.addHook('onRequest', async ({ url }) => requireParsableQuery(url));
    registerAssets(app, [stylesheet, icon]);
    registerPages<AuthorizationInteraction>(app, (handle) => createInteractionHandler(dependencies, handle), {
      '/oauth/authorize': { get: showPrompt, post: submitPrompt },
      '/oauth/sign-out': { post: signOut },
    });
    app.post('/oauth/sign-in', createInteractionHandler(dependencies, signIn));
    // A browser that reloads the response of the sign-in form by its address.
    app.get('/oauth/sign-in', async (request, reply) =>
      reply.redirect(toAuthorizationUrl(request) ?? '/oauth/authorize', 303),
    );
    app.get('/oauth/signed-out', async (request, reply) =>
      sendPage(reply, 200, createSignedOutPage(toAuthorizationUrl(request))),
    );
    rejectOtherMethods(app, ['/oauth/sign-in', '/oauth/signed-out']);
  };
}

/** Throws an error page for a query with too many parameters, or one that is not form-encoded. */
function requireParsableQuery(url: string): void {
  const at = url.indexOf('?');
  if (at >= 0) parseFormPairs(url.slice(at + 1));
}

/** Returns the URL that restarts the authorization request of this query; null without a query. */
function toAuthorizationUrl(request: FastifyRequest): string | null {
  const at = request.url.indexOf('?');
  return at < 0 ? null : `/oauth/authorize${request.url.slice(at)}`;
}

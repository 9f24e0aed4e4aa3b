import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OAuthDependencies } from '../dependencies.ts';
import {
  type AuthorizationQuery,
  type AuthorizationRequest,
  parseAuthorizationQuery,
  parseAuthorizationRequest,
  resolveRedirectTarget,
} from './authorization-request.ts';
import { sendAuthorizationError, sendAuthorizationResponse } from './authorization-response.ts';
import { PageRequest } from './page-request.ts';
import { type ClientFormContext, renderCancelForm } from './pages/forms.ts';
import { html } from './pages/html.ts';
import type { Page } from './pages/layout.ts';
import { createSignInPage, type SignInState } from './pages/sign-in.page.ts';
import { sendPage } from './send-page.ts';
import { findSessionUser, type SignedInUser } from './sessions.ts';

/** Parameter that the pages add to a request whose `builder_id` a person has chosen. */
const BUILDER_CHOSEN = 'builder_chosen';

/**
 * A page request of the user interaction for one authorization request. The query of every page carries the authorization
 * request; the server stores nothing between two requests.
 */
export class AuthorizationInteraction extends PageRequest {
  readonly dependencies: OAuthDependencies;
  readonly query: AuthorizationQuery;
  readonly authorization: AuthorizationRequest;

  constructor(
    dependencies: OAuthDependencies,
    request: FastifyRequest,
    reply: FastifyReply,
    query: AuthorizationQuery,
    authorization: AuthorizationRequest,
  ) {
    super(dependencies, request, reply, authorization.client.database);
    this.dependencies = dependencies;
    this.query = query;
    this.authorization = authorization;
  }

  get database() {
    return this.authorization.client.database;
  }

  findUser(): Promise<SignedInUser | null> {
    return findSessionUser(this.database, this.browserIdIn(this.database), this.now);
  }

  show(createPage: (context: ClientFormContext) => Page, status = 200): FastifyReply {
    const { client, redirectUri } = this.authorization;
    const context = { browserId: this.ensureBrowserId(), query: this.query.text, clientName: client.name };
    return sendPage(this.reply, status, createPage(context), redirectUri);
  }

  override showSignIn(state: SignInState, status = 200): FastifyReply {
    return this.show((context) => {
      const purpose = html`to continue to <strong>${context.clientName}</strong>`;
      return createSignInPage(
        context,
        { path: '/oauth/sign-in', purpose, footer: renderCancelForm(context), offersReset: this.offersPasswordReset },
        state,
      );
    }, status);
  }

  override resume(): FastifyReply {
    return this.#redirectTo('/oauth/authorize', this.query.text);
  }

  /** Whether a person has chosen `builder_id` on the page. Somebody else who signs in afterwards chooses again. */
  get isBuilderChosen(): boolean {
    return new URLSearchParams(this.query.text).has(BUILDER_CHOSEN);
  }

  /** Resumes the authorization request with `builder_id` set to this builder, or removed if null. */
  resumeWithBuilder(builderId: string | null): FastifyReply {
    const query = new URLSearchParams(this.query.text);
    query.delete('builder_id');
    query.delete(BUILDER_CHOSEN);
    if (builderId !== null) {
      query.set('builder_id', builderId);
      query.set(BUILDER_CHOSEN, 'true');
    }
    return this.#redirectTo('/oauth/authorize', query.toString());
  }

  override redirectToSignedOut(): FastifyReply {
    return this.#redirectTo('/oauth/signed-out', this.query.text);
  }

  #redirectTo(path: string, query: string): FastifyReply {
    return this.reply.redirect(`${path}?${query}`, 303);
  }

  redirectToClient(code: string): FastifyReply {
    return sendAuthorizationResponse(this.reply, this.authorization, this.dependencies.baseUrl, { code });
  }
}

/**
 * Creates the route handler of an interaction page. Page errors, and errors thrown before the redirect target is verified, are
 * shown on a page. All other errors are sent to the client by redirect.
 */
export const createInteractionHandler =
  (dependencies: OAuthDependencies, handle: (interaction: AuthorizationInteraction) => Promise<FastifyReply>) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { baseUrl } = dependencies;
    const query = parseAuthorizationQuery(request.url);
    const target = await resolveRedirectTarget(dependencies, query);
    try {
      const authorization = parseAuthorizationRequest(query, target, baseUrl);
      return await handle(new AuthorizationInteraction(dependencies, request, reply, query, authorization));
    } catch (thrown) {
      return sendAuthorizationError(request, reply, target, baseUrl, thrown);
    }
  };

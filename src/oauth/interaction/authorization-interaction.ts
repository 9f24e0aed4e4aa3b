import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../../shared/errors.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { OAuthError, serverError } from '../errors.ts';
import {
  type AuthorizationQuery,
  type AuthorizationRequest,
  parseAuthorizationQuery,
  parseAuthorizationRequest,
  type RedirectTarget,
  resolveRedirectTarget,
} from './authorization-request.ts';
import { PageError } from './page-error.ts';
import { PageRequest } from './page-request.ts';
import { type ClientFormContext, renderCancelForm } from './pages/forms.ts';
import { html } from './pages/html.ts';
import type { SignInForm } from './pages/sign-in.page.ts';
import type { SignedInUser } from './sessions.ts';

/** Parameter that the pages add to a request whose `builder_id` a person has chosen. */
const BUILDER_CHOSEN = 'builder_chosen';

/**
 * A page request of the user interaction for one authorization request. The query of every page carries the authorization
 * request; the server stores nothing between two requests.
 */
export class AuthorizationInteraction extends PageRequest<OAuthDependencies> {
  override readonly formQuery: string;
  override readonly resumeUrl: string;
  override readonly signedOutUrl: string;
  override readonly redirectUri: string;

  constructor(
    dependencies: OAuthDependencies,
    request: FastifyRequest,
    reply: FastifyReply,
    { text, parameters }: AuthorizationQuery,
    readonly authorization: AuthorizationRequest,
  ) {
    super(dependencies, request, reply, authorization.client.database);
    const shown = new URLSearchParams(text);
    shown.set('scope', authorization.scopes.join(' '));
    // The scopes of a client, which are meant without the parameter, may become more before a person allows what a page has shown.
    const query = parameters.has('scope') ? text : String(shown);
    this.formQuery = query;
    this.resumeUrl = `/oauth/authorize?${query}`;
    this.signedOutUrl = `/oauth/signed-out?${query}`;
    this.redirectUri = authorization.redirectUri;
  }

  get database() {
    return this.authorization.client.database;
  }

  async findUser(): Promise<SignedInUser | undefined> {
    return (await this.findUsers())[0]?.user;
  }

  override formContext(): ClientFormContext {
    return { ...super.formContext(), clientName: this.authorization.client.name };
  }

  override get signInForm(): SignInForm {
    const purpose = html`to continue to <strong>${this.authorization.client.name}</strong>`;
    return { path: '/oauth/sign-in', purpose, renderFooter: renderCancelForm };
  }

  /** Whether a person has chosen `builder_id` on the page. Somebody else who signs in afterwards chooses again. */
  get isBuilderChosen(): boolean {
    return new URLSearchParams(this.formQuery).has(BUILDER_CHOSEN);
  }

  /** Resumes the authorization request with `builder_id` set to this builder, or removed if null. */
  resumeWithBuilder(builderId: string | null): FastifyReply {
    const query = new URLSearchParams(this.formQuery);
    query.delete('builder_id');
    query.delete(BUILDER_CHOSEN);
    if (builderId !== null) {
      query.set('builder_id', builderId);
      query.set(BUILDER_CHOSEN, 'true');
    }
    return this.redirect(`/oauth/authorize?${query}`);
  }

  redirectToClient(code: string): FastifyReply {
    return redirectToClient(this.reply, this.authorization, this.dependencies.baseUrl, { code });
  }
}

/**
 * Creates the route handler of an interaction page. Page errors, a 429, and errors thrown before the redirect target is verified, are
 * shown on a page. All other errors are sent to the client by redirect.
 */
export const createInteractionHandler =
  (
    dependencies: OAuthDependencies,
    handle: (interaction: AuthorizationInteraction) => Promise<FastifyReply> | FastifyReply,
  ) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { baseUrl } = dependencies;
    const query = parseAuthorizationQuery(request.url);
    const target = await resolveRedirectTarget(dependencies, query);
    try {
      const authorization = parseAuthorizationRequest(query, target, baseUrl);
      return await handle(new AuthorizationInteraction(dependencies, request, reply, query, authorization));
    } catch (thrown) {
      if (thrown instanceof PageError || (thrown instanceof ApiError && thrown.status === 429)) throw thrown;
      if (!(thrown instanceof OAuthError)) request.log.error({ err: thrown }, 'authorization failed');
      const error = thrown instanceof OAuthError ? thrown : serverError();
      return redirectToClient(reply, target, baseUrl, error.body());
    }
  };

/**
 * Redirects to the client with `state` and, against mix-up attacks, `iss`. RFC 6749 sections 4.1.2 and 4.1.2.1, RFC 9207.
 * Uses 303 after a form, so that the browser sends a GET without the form. RFC 9700 section 4.12.
 */
function redirectToClient(
  reply: FastifyReply,
  { redirectUri, state }: Pick<RedirectTarget, 'redirectUri' | 'state'>,
  issuer: string,
  response: { code: string } | { error: string; error_description: string },
): FastifyReply {
  const parameters = new URLSearchParams({ ...response, ...(state !== null && { state }), iss: issuer });
  // Appended as text, because parsing could change the registered URI.
  const separator = redirectUri.includes('?') ? '&' : '?';
  return reply.redirect(`${redirectUri}${separator}${parameters}`, reply.request.method === 'POST' ? 303 : 302);
}

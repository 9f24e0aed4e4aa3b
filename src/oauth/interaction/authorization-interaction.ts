import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OAuthDependencies } from '../dependencies.ts';
import {
  type AuthorizationRequest,
  findReturnAddress,
  type Query,
  readAuthorization,
  readQuery,
} from './authorization-request.ts';
import { sendBack, sendErrorBack } from './authorize-error.ts';
import { PageVisit } from './page-request.ts';
import { type ApplicationContext, cancelForm } from './pages/forms.ts';
import { html } from './pages/html.ts';
import type { Page } from './pages/layout.ts';
import { type SignInState, signInPage } from './pages/sign-in.ts';
import { sendPage } from './send-page.ts';
import { findSignedIn, type SignedInUser } from './sessions.ts';

/** What a browser is shown or sends on its way through one authorization request. Nothing is kept between two steps. */
export class Step extends PageVisit {
  readonly parts: OAuthDependencies;
  readonly query: Query;
  readonly request: AuthorizationRequest;

  constructor(
    parts: OAuthDependencies,
    http: FastifyRequest,
    reply: FastifyReply,
    query: Query,
    request: AuthorizationRequest,
  ) {
    super(parts, http, reply, [request.client.database]);
    this.parts = parts;
    this.query = query;
    this.request = request;
  }

  get database() {
    return this.request.client.database;
  }

  signedIn(): Promise<SignedInUser | null> {
    return findSignedIn(this.database, this.browserIdIn(this.database), this.now);
  }

  show(makePage: (context: ApplicationContext) => Page, status = 200): FastifyReply {
    const { name: application } = this.request.client;
    const context = { browserId: this.browserIdForForms(), query: this.query.text, application };
    return sendPage(this.reply, status, makePage(context), this.request.redirectUri);
  }

  override showSignIn(state: SignInState, status = 200): FastifyReply {
    return this.show((context) => {
      const purpose = html`to continue to <strong>${context.application}</strong>`;
      return signInPage(context, { path: '/oauth/sign-in', purpose, otherwise: cancelForm(context) }, state);
    }, status);
  }

  /** Goes on with the same authorization request, with this builder pre-selected in place of the one that it named. */
  override goOn(builderId?: string | null): FastifyReply {
    if (builderId === undefined) return this.#goTo('/oauth/authorize', this.query.text);
    const query = new URLSearchParams(this.query.text);
    query.delete('builder_id');
    if (builderId !== null) query.set('builder_id', builderId);
    return this.#goTo('/oauth/authorize', query.toString());
  }

  override goOut(): FastifyReply {
    return this.#goTo('/oauth/signed-out', this.query.text);
  }

  #goTo(path: string, query: string): FastifyReply {
    return this.reply.redirect(`${path}?${query}`, 303);
  }

  sendCode(code: string): FastifyReply {
    return sendBack(this.reply, this.request, this.parts.baseUrl, { code });
  }
}

/** A handler of one step. What it throws goes back to the application, once that is known, and else onto a page. */
export const step =
  (parts: OAuthDependencies, work: (step: Step) => Promise<FastifyReply>) =>
  async (http: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const query = readQuery(http.url);
    const back = await findReturnAddress(parts, query);
    try {
      return await work(new Step(parts, http, reply, query, readAuthorization(query, back, parts.baseUrl)));
    } catch (thrown) {
      return sendErrorBack(http, reply, back, parts.baseUrl, thrown);
    }
  };

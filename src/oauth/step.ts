import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type AuthorizationRequest,
  findReturnAddress,
  type Query,
  readAuthorization,
  readQuery,
} from './authorization-request.ts';
import { sendBack, sendErrorBack } from './authorize-error.ts';
import { giveBrowserId, readBrowserId } from './browser.ts';
import { requireCsrfToken } from './checks/csrf.ts';
import type { FormContext } from './pages/forms.ts';
import type { Page } from './pages/layout.ts';
import type { Parameters } from './parameters.ts';
import type { OAuthParts } from './parts.ts';
import { sendPage } from './send-page.ts';
import { findSignedIn, type SignedInUser } from './sessions.ts';

/** What a browser is shown or sends on its way through one authorization request. Nothing is kept between two steps. */
export class Step {
  readonly parts: OAuthParts;
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: Query;
  readonly request: AuthorizationRequest;
  /** What the cookie of the client's region holds. */
  readonly browserId: string | null;

  constructor(
    parts: OAuthParts,
    http: FastifyRequest,
    reply: FastifyReply,
    query: Query,
    request: AuthorizationRequest,
  ) {
    this.parts = parts;
    this.http = http;
    this.reply = reply;
    this.query = query;
    this.request = request;
    this.browserId = readBrowserId(http, this.database.region, this.secure);
  }

  get database() {
    return this.request.client.database;
  }

  get now() {
    return this.parts.clock.now();
  }

  get secure() {
    return this.parts.baseUrl.startsWith('https:');
  }

  /** What the browser sent in a form, which must have been shown to it. */
  readForm(): Parameters {
    const fields = (this.http.body as Parameters | undefined) ?? new Map();
    requireCsrfToken(fields.get('csrf'), this.browserId);
    return fields;
  }

  signedIn(): Promise<SignedInUser | null> {
    return findSignedIn(this.database, this.browserId, this.now);
  }

  /** A new identifier for the browser; whatever it had is of no use any more. */
  renewBrowser(): string {
    return giveBrowserId(this.reply, this.database.region, this.secure);
  }

  show(makePage: (context: FormContext) => Page, status = 200): FastifyReply {
    const browserId = this.browserId ?? this.renewBrowser();
    const context = { browserId, query: this.query.text, application: this.request.client.name };
    return sendPage(this.reply, status, makePage(context), this.request.redirectUri);
  }

  /** Goes on with the same authorization request, with this builder pre-selected in place of the one that it named. */
  goOn(path = '/oauth/authorize', builderId?: string | null): FastifyReply {
    if (builderId === undefined) return this.reply.redirect(`${path}?${this.query.text}`, 303);
    const query = new URLSearchParams(this.query.text);
    query.delete('builder_id');
    if (builderId !== null) query.set('builder_id', builderId);
    return this.reply.redirect(`${path}?${query}`, 303);
  }

  sendCode(code: string): FastifyReply {
    return sendBack(this.reply, this.request, this.parts.baseUrl, { code });
  }
}

/** A handler of one step. What it throws goes back to the application, once that is known, and else onto a page. */
export const step =
  (parts: OAuthParts, work: (step: Step) => Promise<FastifyReply>) =>
  async (http: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const query = readQuery(http.url);
    const back = await findReturnAddress(parts, query);
    try {
      return await work(new Step(parts, http, reply, query, readAuthorization(query, back, parts.baseUrl)));
    } catch (thrown) {
      return sendErrorBack(http, reply, back, parts.baseUrl, thrown);
    }
  };

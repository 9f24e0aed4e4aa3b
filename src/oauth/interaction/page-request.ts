import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { Clock } from '../../shared/clock.ts';
import { requireCsrfToken } from '../checks/csrf.ts';
import type { Parameters } from '../parameters.ts';
import { giveBrowserId, readBrowserId } from './browser.ts';
import type { SignInState } from './pages/sign-in.ts';

interface PageVisitParts {
  clock: Clock;
  baseUrl: string;
}

/** One request of a browser to the pages: its cookies and its forms. */
export abstract class PageVisit {
  readonly http: FastifyRequest;
  readonly reply: FastifyReply;
  /** The regions in which the person may have an account. Forms are tied to the cookie of the first. */
  readonly databases: readonly [Database, ...Database[]];
  readonly now: number;
  readonly #secure: boolean;

  constructor(
    { clock, baseUrl }: PageVisitParts,
    http: FastifyRequest,
    reply: FastifyReply,
    databases: readonly [Database, ...Database[]],
  ) {
    this.http = http;
    this.reply = reply;
    this.databases = databases;
    this.now = clock.now();
    this.#secure = baseUrl.startsWith('https:');
  }

  abstract showSignIn(state: SignInState, status?: number): FastifyReply;

  /** Goes where the person wanted to be when they were asked to sign in. */
  abstract goOn(): FastifyReply;

  abstract goOut(): FastifyReply;

  /** What the cookie of the region holds. */
  browserIdIn({ region }: Database): string | null {
    return readBrowserId(this.http, region, this.#secure);
  }

  /** A new identifier for the browser; whatever it had in that region is of no use any more. */
  renewBrowserIn({ region }: Database): string {
    return giveBrowserId(this.reply, region, this.#secure);
  }

  /** What the forms of the page are tied to; given to a browser that has none. */
  browserIdForForms(): string {
    const [first] = this.databases;
    return this.browserIdIn(first) ?? this.renewBrowserIn(first);
  }

  /** What the browser sent in a form, which must have been shown to it. */
  readForm(): Parameters {
    const fields = (this.http.body as Parameters | undefined) ?? new Map();
    requireCsrfToken(fields.get('csrf'), this.browserIdIn(this.databases[0]));
    return fields;
  }
}

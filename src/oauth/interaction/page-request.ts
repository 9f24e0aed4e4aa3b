import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { Clock } from '../../shared/clock.ts';
import { requireCsrfToken } from '../checks/csrf.check.ts';
import type { RequestParameters } from '../parameters.ts';
import { issueBrowserId, readBrowserId } from './browser-id.ts';
import type { SignInState } from './pages/sign-in.page.ts';
import { type Account, type AccountKind, createSession, deleteSession } from './sessions.ts';

interface PageRequestDependencies {
  clock: Clock;
  baseUrl: string;
  /** Absent without a mail server. */
  passwordResets?: unknown;
}

/** A browser's request to a page, with its browser ids and form fields. */
export abstract class PageRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The regions in which the user may have an account. The CSRF token is bound to the browser id of the first. */
  readonly databases: readonly [Database, ...Database[]];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether the sign-in page offers a link for choosing a password. */
  readonly offersPasswordReset: boolean;
  /** Who may sign in. */
  readonly accountKind: AccountKind = 'user';
  readonly #isSecure: boolean;

  constructor(
    { clock, baseUrl, passwordResets }: PageRequestDependencies,
    request: FastifyRequest,
    reply: FastifyReply,
    databases: readonly [Database, ...Database[]],
  ) {
    this.request = request;
    this.reply = reply;
    this.databases = databases;
    this.now = clock.now();
    this.offersPasswordReset = passwordResets !== undefined;
    this.#isSecure = baseUrl.startsWith('https:');
  }

  /** Creates the session of a user who has signed in. A new browser id prevents session fixation. */
  async startSession(database: Database, account: Account): Promise<void> {
    const previousBrowserId = this.browserIdIn(database);
    if (previousBrowserId !== null) await deleteSession(database, previousBrowserId);
    await createSession(database, this.renewBrowserIdIn(database), account, this.now);
  }

  abstract showSignIn(state: SignInState, status?: number): FastifyReply;

  /** Redirects to the page that required the sign-in. */
  abstract resume(): FastifyReply;

  abstract redirectToSignedOut(): FastifyReply;

  /** The browser id of the region; null without one. */
  browserIdIn({ region }: Database): string | null {
    return readBrowserId(this.request, region, this.#isSecure);
  }

  /** Replaces the browser id of the region; the session of the old one is no longer reachable. */
  renewBrowserIdIn({ region }: Database): string {
    return issueBrowserId(this.reply, region, this.#isSecure);
  }

  /** Returns the browser id that the CSRF token is bound to; issues one to a browser without. */
  ensureBrowserId(): string {
    const [first] = this.databases;
    return this.browserIdIn(first) ?? this.renewBrowserIdIn(first);
  }

  /** Returns the form fields; throws a 403 page without this browser's CSRF token. */
  verifiedFields(): RequestParameters {
    const fields = (this.request.body as RequestParameters | undefined) ?? new Map();
    requireCsrfToken(fields.get('csrf'), this.browserIdIn(this.databases[0]));
    return fields;
  }
}

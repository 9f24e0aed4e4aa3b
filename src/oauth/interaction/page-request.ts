import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database, Databases } from '../../database/database.ts';
import type { Clock } from '../../shared/clock.ts';
import { REGIONS } from '../../shared/regions.ts';
import type { RequestParameters } from '../parameters.ts';
import { issueBrowserId, readBrowserId, requireCsrfToken } from './browser-id.ts';
import type { SignInState } from './pages/sign-in.page.ts';
import {
  type Account,
  type AccountKind,
  createSession,
  deleteSession,
  findSessionUser,
  type SignedInUser,
} from './sessions.ts';
import type { HashLimits } from './verify-sign-in.ts';

interface PageRequestDependencies {
  databases: Databases;
  clock: Clock;
  shares: HashLimits;
  baseUrl: string;
  /** Absent without a mail server. */
  passwordResets?: unknown;
}

/** A signed-in user with the database of the account's region. */
export interface RegionalUser {
  database: Database;
  user: SignedInUser;
}

/** A browser's request to a page, with its browser ids and form fields. */
export abstract class PageRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Those of the regions in which the user may have an account. The CSRF token is bound to the browser id of the first. */
  readonly databases: readonly [Database, ...Database[]];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly shares: HashLimits;
  /** Whether the sign-in page offers a link for choosing a password. */
  readonly offersPasswordReset: boolean;
  /** Who may sign in. */
  readonly accountKind: AccountKind = 'user';
  /** Whether cookies are for HTTPS only. */
  readonly isSecure: boolean;

  /** @param database that of the only region in which the user may have an account; by default, every region. */
  constructor(
    { databases, clock, shares, baseUrl, passwordResets }: PageRequestDependencies,
    request: FastifyRequest,
    reply: FastifyReply,
    database?: Database,
  ) {
    const [first, ...others] = REGIONS;
    this.request = request;
    this.reply = reply;
    this.databases = database ? [database] : [databases[first], ...others.map((region) => databases[region])];
    this.now = clock.now();
    this.shares = shares;
    this.offersPasswordReset = passwordResets !== undefined;
    this.isSecure = baseUrl.startsWith('https:');
  }

  /** Creates the session of a user who has signed in. A new browser id prevents session fixation. */
  async startSession(database: Database, account: Account): Promise<void> {
    const previousBrowserId = this.browserIdIn(database);
    if (previousBrowserId !== null) await deleteSession(database, previousBrowserId);
    await createSession(database, this.renewBrowserIdIn(database), account, this.now);
  }

  /** Returns the signed-in user of each region with a session, in the order of `REGIONS`. */
  async findUsers(): Promise<RegionalUser[]> {
    const users = await Promise.all(
      this.databases.map(async (database) => {
        const user = await findSessionUser(database, this.browserIdIn(database), this.now);
        return user && { database, user };
      }),
    );
    return users.filter((user) => user !== null);
  }

  abstract showSignIn(state: SignInState, status?: number): FastifyReply;

  /** Redirects to the page that required the sign-in. */
  abstract resume(): FastifyReply;

  abstract redirectToSignedOut(): FastifyReply;

  /** The browser id of the region; null without one. */
  browserIdIn({ region }: Database): string | null {
    return readBrowserId(this.request, region, this.isSecure);
  }

  /** Replaces the browser id of the region; the session of the old one is no longer reachable. */
  renewBrowserIdIn({ region }: Database): string {
    return issueBrowserId(this.reply, region, this.isSecure);
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

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database, Databases } from '../../database/database.ts';
import type { ChangeContext } from '../../domain/change-context.ts';
import type { FairShares } from '../../limits/fair-shares.ts';
import { toNetwork } from '../../network/client-network.ts';
import type { Clock } from '../../shared/clock.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { REGIONS } from '../../shared/regions.ts';
import { newSecret } from '../../shared/secrets.ts';
import { toAuditOrigin } from '../audit-origin.ts';
import type { RequestParameters } from '../parameters.ts';
import { requireCsrfToken } from './csrf-token.ts';
import type { FormContext } from './pages/forms.ts';
import type { Page } from './pages/layout.ts';
import { createSignInPage, type SignInForm, type SignInState } from './pages/sign-in.page.ts';
import { SecretCookies } from './secret-cookies.ts';
import { sendPage } from './send-page.ts';
import {
  type Account,
  type AccountKind,
  createSession,
  deleteSession,
  findSessionUser,
  type SignedInUser,
} from './sessions.ts';

export interface PageDependencies {
  databases: Databases;
  clock: Clock;
  /** One password hash occupies a thread for 30 milliseconds, and clients without an account can request one. */
  shares: Pick<FairShares, 'threads'>;
  /** Also issuer and audience of the tokens. */
  baseUrl: string;
  /** Absent without a mail server. */
  passwordResets?: unknown;
}

/** A signed-in user with the database of the account's region. */
export interface RegionalUser {
  database: Database;
  user: SignedInUser;
}

/**
 * A browser's request to a page, with its browser ids and form fields. A cookie holds one random browser id per region. Signing in issues a new
 * id, whose digest is the key of the session. Before that the id only binds the CSRF token of the forms to the browser. OAU-25, OAU-26.
 */
export abstract class PageRequest<Dependencies extends PageDependencies = PageDependencies> {
  /** Those of the regions in which the user may have an account. The CSRF token is bound to the browser id of the first. */
  readonly databases: readonly [Database, ...Database[]];
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly cookies: SecretCookies;
  /** Who may sign in. */
  readonly accountKind: AccountKind = 'user';
  /** Query of every form's action. */
  abstract readonly formQuery: string;
  abstract readonly signInForm: SignInForm;
  /** The page that required the sign-in. */
  abstract readonly resumeUrl: string;
  abstract readonly signedOutUrl: string;
  /** The client's redirect URI, to which a form may lead. */
  readonly redirectUri: string | null = null;

  /** @param database that of the only region in which the user may have an account; by default, every region. */
  constructor(
    readonly dependencies: Dependencies,
    readonly request: FastifyRequest,
    readonly reply: FastifyReply,
    database?: Database,
  ) {
    const { databases, clock, baseUrl } = dependencies;
    const [first, ...others] = REGIONS;
    this.databases = database ? [database] : [databases[first], ...others.map((region) => databases[region])];
    this.now = clock.now();
    this.cookies = new SecretCookies(request, reply, baseUrl.startsWith('https:'));
  }

  /**
   * Creates the session of a user who has signed in, and ends the browser's sessions of people with other addresses in all regions: pages show
   * the users of all. A new browser id prevents session fixation.
   */
  async startSession(database: Database, account: Account): Promise<void> {
    for (const each of Object.values(this.dependencies.databases)) {
      const browserId = this.browserIdIn(each);
      const user = each === database ? null : await findSessionUser(each, browserId, this.now, 'user');
      const isSame = user !== null && toComparableText(user.email) === account.email;
      if (browserId !== null && !isSame) await deleteSession(each, browserId);
    }
    await createSession(database, this.renewBrowserIdIn(database), account, this.now);
  }

  /** Returns the signed-in user of each region with a session, in the order of `REGIONS`. */
  async findUsers(): Promise<RegionalUser[]> {
    const users = await Promise.all(
      this.databases.map(async (database) => {
        const user = await findSessionUser(database, this.browserIdIn(database), this.now, 'user');
        return user && { database, user };
      }),
    );
    return users.filter((user) => user !== null);
  }

  /** Runs work with password hashes. Every network has a share. */
  runPasswordHash<T>(work: () => Promise<T>): Promise<T> {
    return this.dependencies.shares.threads.run(toNetwork(this.request.ip), 1, work);
  }

  /** Returns what a change by the user needs. */
  createChangeContext(database: Database, userId: string | null): ChangeContext {
    const source = { actor: { type: 'USER' as const, id: userId }, origin: toAuditOrigin(this.request) };
    return { database, clock: this.dependencies.clock, source };
  }

  formContext(query = this.formQuery): FormContext {
    return { browserId: this.ensureBrowserId(), query };
  }

  show(page: Page, status = 200): FastifyReply {
    return sendPage(this.reply, status, page, this.redirectUri);
  }

  showSignIn(state: SignInState = { email: '', problem: null }, status = 200): FastifyReply {
    const offersReset = this.accountKind === 'user' && this.dependencies.passwordResets !== undefined;
    return this.show(createSignInPage(this.formContext(), { ...this.signInForm, offersReset }, state), status);
  }

  redirect(url: string): FastifyReply {
    return this.reply.redirect(url, 303);
  }

  resume(): FastifyReply {
    return this.redirect(this.resumeUrl);
  }

  /** The browser id of the region; null without one. */
  browserIdIn({ region }: Database): string | null {
    return this.cookies.read('session', region);
  }

  /** Replaces the browser id of the region; the session of the old one is no longer reachable. */
  renewBrowserIdIn({ region }: Database): string {
    const id = newSecret();
    this.cookies.set('session', region, id);
    return id;
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

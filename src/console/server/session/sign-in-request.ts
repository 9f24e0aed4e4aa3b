import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database, Databases } from '../../../database/database.ts';
import { PageRequest } from '../../../oauth/interaction/page-request.ts';
import { html } from '../../../oauth/interaction/pages/html.ts';
import { createSignInPage, type SignInState } from '../../../oauth/interaction/pages/sign-in.page.ts';
import { sendPage } from '../../../oauth/interaction/send-page.ts';
import type { Account } from '../../../oauth/interaction/sessions.ts';
import type { HashLimits } from '../../../oauth/interaction/verify-sign-in.ts';
import type { Clock } from '../../../shared/clock.ts';
import { REGIONS, type RegionId } from '../../../shared/regions.ts';
import { createConsoleSession, endConsoleSession } from './console-sessions.ts';
import { toReturnPath } from './return-path.ts';

interface SignInDependencies {
  databases: Databases;
  clock: Clock;
  shares: HashLimits;
  baseUrl: string;
}

/**
 * A request of the staff's sign-in page. It signs in to each region in which the e-mail address has a staff user with the password. Its
 * form is protected like those of all pages; the console's cookie is set here and read by `/console/graphql` alone. CON-1.
 */
export class SignInRequest extends PageRequest {
  override readonly accountKind = 'staff';
  /** Page of the console to return to. */
  readonly #returnTo: URL;
  readonly #signedInRegions: RegionId[] = [];

  constructor(dependencies: SignInDependencies, request: FastifyRequest, reply: FastifyReply) {
    super(dependencies, request, reply);
    this.#returnTo = toReturnPath((request.query as { return?: unknown }).return);
  }

  /** Ends the browser's sessions of all regions before the first new one: they may be another person's. CON-1. */
  override async startSession(database: Database, account: Account): Promise<void> {
    if (this.#signedInRegions.length === 0) {
      for (const each of this.databases) await endConsoleSession(each, this.request, this.reply, this.isSecure);
    }
    await createConsoleSession(database, this.reply, this.isSecure, account, this.now);
    this.#signedInRegions.push(database.region);
  }

  override showSignIn(state: SignInState, status = 200): FastifyReply {
    const { pathname, search } = this.#returnTo;
    const query = new URLSearchParams({ return: `${pathname}${search}` }).toString();
    const target = {
      ...{ path: '/console/sign-in', purpose: html`to the staff console`, footer: null, offersReset: false },
    };
    return sendPage(this.reply, status, createSignInPage({ browserId: this.ensureBrowserId(), query }, target, state));
  }

  /** Redirects to the page in a region in which the user is signed in. CON-1. */
  override resume(): FastifyReply {
    const { pathname, search, searchParams } = this.#returnTo;
    const requestedRegion = searchParams.get('region');
    const [first, ...others] = this.#signedInRegions;
    const isSignedIn =
      requestedRegion === null
        ? others.length === REGIONS.length - 1
        : [first, ...others].includes(requestedRegion as RegionId);
    if (isSignedIn) return this.reply.redirect(`${pathname}${search}`, 303);
    // Other parameters may name records of the other region.
    const query = requestedRegion === null ? searchParams : new URLSearchParams();
    query.set('region', first!);
    return this.reply.redirect(`${pathname}?${query}`, 303);
  }

  override redirectToSignedOut(): FastifyReply {
    return this.reply.redirect('/console/sign-in', 303);
  }
}

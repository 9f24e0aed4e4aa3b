import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../../database/database.ts';
import { type PageDependencies, PageRequest } from '../../../oauth/interaction/page-request.ts';
import { html } from '../../../oauth/interaction/pages/html.ts';
import type { SecretCookies } from '../../../oauth/interaction/secret-cookies.ts';
import { type Account, createSession, deleteSession } from '../../../oauth/interaction/sessions.ts';
import { REGIONS, type RegionId } from '../../../shared/regions.ts';
import { newSecret } from '../../../shared/secrets.ts';
import { toReturnPath } from './return-path.ts';

/** Deletes the browser's session of the region, if there is one, and its cookie. */
export async function endConsoleSession(database: Database, cookies: SecretCookies): Promise<void> {
  const secret = cookies.read('console', database.region);
  if (secret === null) return;
  await deleteSession(database, secret, 'staff');
  cookies.delete('console', database.region);
}

/**
 * A request of the staff's sign-in page. It signs in to each region in which the e-mail address has a staff user with the password. Its
 * form is protected like those of all pages; the console's cookie is set here and read by `/console/graphql` alone. CON-1.
 */
export class SignInRequest extends PageRequest {
  override readonly accountKind = 'staff';
  override readonly formQuery: string;
  override readonly signInForm = { path: '/console/sign-in', purpose: html`to the staff console` };
  override readonly signedOutUrl = '/console/sign-in';
  /** Page of the console to return to. */
  readonly #returnTo: URL;
  readonly #signedInRegions: RegionId[] = [];

  constructor(dependencies: PageDependencies, request: FastifyRequest, reply: FastifyReply) {
    super(dependencies, request, reply);
    this.#returnTo = toReturnPath((request.query as { return?: unknown }).return);
    const { pathname, search } = this.#returnTo;
    this.formQuery = new URLSearchParams({ return: `${pathname}${search}` }).toString();
  }

  /** Ends the browser's sessions of all regions before the first new one: they may be another person's. CON-1. */
  override async startSession(database: Database, account: Account): Promise<void> {
    if (this.#signedInRegions.length === 0) {
      for (const each of this.databases) await endConsoleSession(each, this.cookies);
    }
    const secret = newSecret();
    await createSession(database, secret, account, this.now, 'staff');
    this.cookies.set('console', database.region, secret);
    this.#signedInRegions.push(database.region);
  }

  /** The page in a region in which the user is signed in. CON-1. */
  override get resumeUrl(): string {
    const { pathname, search, searchParams } = this.#returnTo;
    const requestedRegion = searchParams.get('region');
    const [first, ...others] = this.#signedInRegions;
    const isSignedIn =
      requestedRegion === null
        ? others.length === REGIONS.length - 1
        : [first, ...others].includes(requestedRegion as RegionId);
    if (isSignedIn) return `${pathname}${search}`;
    // Other parameters may name records of the other region.
    const query = requestedRegion === null ? searchParams : new URLSearchParams();
    query.set('region', first!);
    return `${pathname}?${query}`;
  }
}

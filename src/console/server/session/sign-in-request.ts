import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../config.ts';
import type { Database } from '../../../database/database.ts';
import { type PageDependencies, PageRequest } from '../../../oauth/interaction/page-request.ts';
import { html } from '../../../oauth/interaction/pages/html.ts';
import type { SignInForm } from '../../../oauth/interaction/pages/sign-in.page.ts';
import type { SecretCookies } from '../../../oauth/interaction/secret-cookies.ts';
import { type Account, createSession, deleteSession } from '../../../oauth/interaction/sessions.ts';
import { REGIONS, type RegionId } from '../../../shared/regions.ts';
import { newSecret } from '../../../shared/secrets.ts';
import { readReturnPath } from './openid-checks.ts';
import { toReturnPath } from './return-path.ts';

/** Deletes the browser's session of the region, if there is one, and its cookie. */
export async function endConsoleSession(database: Database, cookies: SecretCookies): Promise<void> {
  const secret = cookies.read('console', database.region);
  if (secret === null) return;
  await deleteSession(database, secret, 'staff');
  cookies.delete('console', database.region);
}

interface SignInDependencies extends PageDependencies {
  config: Pick<Config, 'staff'>;
}

/**
 * A request of the staff's sign-in page. It signs in to each region in which the e-mail address has a staff user with the password. Its
 * form is protected like those of all pages; the console's cookie is set here and read by `/console/graphql` alone. CON-1.
 */
export class SignInRequest extends PageRequest<SignInDependencies> {
  override readonly accountKind = 'staff';
  override readonly formQuery: string;
  override readonly signInForm: SignInForm;
  override readonly signedOutUrl = '/console/sign-in';
  /** Page of the console to return to. */
  readonly #returnTo: URL;
  readonly #signedInRegions: RegionId[] = [];

  constructor(dependencies: SignInDependencies, request: FastifyRequest, reply: FastifyReply) {
    super(dependencies, request, reply);
    const { return: page, state } = request.query as { return?: unknown; state?: unknown };
    this.#returnTo = toReturnPath(page ?? readReturnPath(state));
    this.formQuery = new URLSearchParams({ return: this.returnPath }).toString();
    const { openId, allowsPasswords } = dependencies.config.staff;
    this.signInForm = {
      path: '/console/sign-in',
      purpose: html`to the staff console`,
      providerPath: openId ? `/console/sign-in/openid?${this.formQuery}` : null,
      takesPassword: allowsPasswords,
    };
  }

  /** Page of the console to return to, with its query. */
  get returnPath(): string {
    return `${this.#returnTo.pathname}${this.#returnTo.search}`;
  }

  /** Ends the browser's sessions of all regions before the first new one: they may be another person's. CON-1. */
  override async startSession(database: Database, account: Account): Promise<void> {
    if (this.#signedInRegions.length === 0)
      for (const each of this.databases) await endConsoleSession(each, this.cookies);
    const secret = newSecret();
    const { sessionSeconds } = this.dependencies.config.staff;
    await createSession(database, secret, account, this.now, 'staff', sessionSeconds);
    this.cookies.set('console', database.region, secret, `SameSite=Strict; Max-Age=${sessionSeconds}`);
    this.#signedInRegions.push(database.region);
  }

  /** The page in a region in which the user is signed in. CON-1. */
  override get resumeUrl(): string {
    const { pathname, searchParams } = this.#returnTo;
    const requestedRegion = searchParams.get('region');
    const [first, ...others] = this.#signedInRegions;
    const isSignedIn =
      requestedRegion === null
        ? others.length === REGIONS.length - 1
        : [first, ...others].includes(requestedRegion as RegionId);
    if (isSignedIn) return this.returnPath;
    // Other parameters may name records of the other region.
    const query = requestedRegion === null ? searchParams : new URLSearchParams();
    query.set('region', first!);
    return `${pathname}?${query}`;
  }
}

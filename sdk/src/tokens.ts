import { ApiError, ConnectionError } from './errors.ts';
import type { components } from './generated/openapi.ts';
import { type Authorization, Transport } from './transport.ts';

type Token = components['schemas']['Token'];

/** An application's own credentials, for the builders that are connected to its integrator. */
export interface ClientCredentials {
  clientId: string;
  clientSecret: string;
  /** Such as `read:timesheets`. */
  scopes: readonly string[];
}

/** A person's consent, by the authorization-code flow. */
export interface UserCredentials {
  clientId: string;
  /** Absent for a public client. */
  clientSecret?: string;
  tokens: TokenStore;
}

/** Keeps the refresh token of one consent. Every refresh replaces it, so a store is shared by all that use the consent. */
export interface TokenStore {
  load(): Promise<StoredTokens>;
  /** When it resolves, the tokens survive the end of the process: the service knows the old refresh token no longer. */
  save(tokens: StoredTokens): Promise<void>;
  /** Runs the function while no other user of the store runs one. Needed where several processes share the store. */
  lock?<T>(run: () => Promise<T>): Promise<T>;
}

export interface StoredTokens {
  refreshToken: string;
  accessToken?: string;
  /** Milliseconds since 1970, on the clock of this computer. */
  expiresAt?: number;
}

/** The consent has ended: the person has to sign in again. */
export class SignInRequiredError extends Error {
  override name = 'SignInRequiredError';
}

/** A token is replaced so long before it ends. */
const RENEW_BEFORE_MS = 60_000;
/** The service takes a replaced refresh token that comes again within 60 seconds for a lost response, and later for a theft (OAU-33). */
const REPEAT_REFRESH_MS = 30_000;

interface TokenEndpoint {
  baseUrl: string;
  /** The API's public address. */
  audience: string;
  region: string;
  transport: Transport;
}

/** Requests a token when there is none that lasts, once for all calls that wait for it. */
abstract class TokenSource implements Authorization {
  #token: { value: string; until: number } | null = null;
  #pending: Promise<string> | null = null;

  getToken(rejected?: string): Promise<string> {
    // `performance.now`, because the clock of the computer may be wrong or change.
    const current = this.#token;
    if (current && current.value !== rejected && performance.now() < current.until)
      return Promise.resolve(current.value);
    this.#pending ??= this.#renew(rejected).finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  async #renew(rejected: string | undefined): Promise<string> {
    const startedAt = performance.now();
    const { access_token: value, expires_in: seconds } = await this.request(rejected);
    this.#token = { value, until: startedAt + Math.max(seconds * 1000 - RENEW_BEFORE_MS, seconds * 500) };
    return value;
  }

  protected abstract request(rejected: string | undefined): Promise<Pick<Token, 'access_token' | 'expires_in'>>;
}

export class ClientTokenSource extends TokenSource {
  readonly #endpoint: TokenEndpoint;
  readonly #credentials: ClientCredentials;

  constructor(endpoint: TokenEndpoint, credentials: ClientCredentials) {
    super();
    this.#endpoint = endpoint;
    this.#credentials = credentials;
  }

  protected override request(): Promise<Token> {
    const { clientId, clientSecret, scopes } = this.#credentials;
    return requestToken(this.#endpoint, {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      audience: this.#endpoint.audience,
      scope: scopes.join(' '),
    });
  }
}

export class UserTokenSource extends TokenSource {
  readonly #endpoint: TokenEndpoint;
  readonly #credentials: UserCredentials;

  constructor(endpoint: TokenEndpoint, credentials: UserCredentials) {
    super();
    this.#endpoint = endpoint;
    this.#credentials = credentials;
  }

  protected override request(rejected: string | undefined) {
    const { tokens } = this.#credentials;
    const run = () => this.#refresh(rejected);
    return tokens.lock ? tokens.lock(run) : run();
  }

  async #refresh(rejected: string | undefined): Promise<Pick<Token, 'access_token' | 'expires_in'>> {
    const { tokens, clientId, clientSecret } = this.#credentials;
    const { refreshToken, accessToken, expiresAt = 0 } = await tokens.load();
    const remainingMs = expiresAt - Date.now();
    // Another process has refreshed in the meantime, or this one before its restart.
    if (accessToken !== undefined && accessToken !== rejected && remainingMs > RENEW_BEFORE_MS)
      return { access_token: accessToken, expires_in: remainingMs / 1000 };
    const form = {
      grant_type: 'refresh_token',
      client_id: clientId,
      ...(clientSecret !== undefined && { client_secret: clientSecret }),
      refresh_token: refreshToken,
    };
    const token = await this.#requestOnce(form);
    await tokens.save({
      refreshToken: token.refresh_token ?? refreshToken,
      accessToken: token.access_token,
      expiresAt: Date.now() + token.expires_in * 1000,
    });
    return token;
  }

  /** Sends a refresh, and after a lost response once more while that cannot look like a theft. */
  async #requestOnce(form: Record<string, string>): Promise<Token> {
    const startedAt = performance.now();
    try {
      return await requestToken(this.#endpoint, form, 'rejected');
    } catch (error) {
      const isLost = error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
      if (isLost && performance.now() - startedAt < REPEAT_REFRESH_MS) {
        return await requestToken(this.#endpoint, form, 'rejected').catch(toSignInError);
      }
      return toSignInError(error);
    }
  }
}

function toSignInError(error: unknown): never {
  if (error instanceof ApiError && error.code === 'invalid_grant')
    throw new SignInRequiredError('The consent has ended, or its last refresh token was lost. Sign in again.', {
      cause: error,
    });
  throw error;
}

async function requestToken(
  { baseUrl, region, transport }: TokenEndpoint,
  form: Record<string, string>,
  retry: 'always' | 'rejected' = 'always',
): Promise<Token> {
  const request = new Request(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'x-service-region-id': region },
    body: new URLSearchParams(form),
  });
  const response = await transport.send(request, retry);
  return (await response.json()) as Token;
}

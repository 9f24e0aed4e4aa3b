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
/** A replaced refresh token that is used again after 60 seconds revokes all tokens of the consent (OAU-33). */
const REPEAT_REFRESH_MS = 30_000;

interface TokenEndpoint {
  baseUrl: string;
  /** The API's public address. */
  audience: string;
  region: string;
  transport: Transport;
}

type RequestedToken = Pick<Token, 'access_token' | 'expires_in'>;

/** Returns a source that requests a token when there is none that lasts, once for all calls that wait for it. */
export function createAuthorization(
  endpoint: TokenEndpoint,
  credentials: ClientCredentials | UserCredentials,
): Authorization {
  let token: { value: string; until: number } | null = null;
  let pending: Promise<string> | null = null;
  return {
    getToken(rejected) {
      // `performance.now`, because the clock of the computer may be wrong or change.
      if (token && token.value !== rejected && performance.now() < token.until) return Promise.resolve(token.value);
      pending ??= renew(rejected).finally(() => {
        pending = null;
      });
      return pending;
    },
  };

  async function renew(rejected: string | undefined): Promise<string> {
    const startedAt = performance.now();
    const { access_token: value, expires_in: seconds } = await requestNext(rejected);
    token = { value, until: startedAt + Math.max(seconds * 1000 - RENEW_BEFORE_MS, seconds * 500) };
    return value;
  }

  /** Refreshes one process after the other where the store has a lock. */
  function requestNext(rejected: string | undefined): Promise<RequestedToken> {
    if (!('tokens' in credentials)) return requestClientToken(endpoint, credentials);
    const run = () => refresh(endpoint, credentials, rejected);
    return credentials.tokens.lock ? credentials.tokens.lock(run) : run();
  }
}

function requestClientToken(endpoint: TokenEndpoint, credentials: ClientCredentials): Promise<Token> {
  return requestToken(endpoint, {
    grant_type: 'client_credentials',
    client_id: credentials.clientId,
    client_secret: credentials.clientSecret,
    audience: endpoint.audience,
    scope: credentials.scopes.join(' '),
  });
}

async function refresh(
  endpoint: TokenEndpoint,
  { tokens, clientId, clientSecret }: UserCredentials,
  rejected: string | undefined,
): Promise<RequestedToken> {
  const { refreshToken, accessToken, expiresAt = 0 } = await tokens.load();
  const remainingMs = expiresAt - Date.now();
  // Another process has refreshed in the meantime, or this one before its restart.
  if (accessToken !== undefined && accessToken !== rejected && remainingMs > RENEW_BEFORE_MS)
    return { access_token: accessToken, expires_in: remainingMs / 1000 };
  const token = await requestRefresh(endpoint, {
    grant_type: 'refresh_token',
    client_id: clientId,
    ...(clientSecret !== undefined && { client_secret: clientSecret }),
    refresh_token: refreshToken,
  });
  await tokens.save({
    refreshToken: token.refresh_token ?? refreshToken,
    accessToken: token.access_token,
    expiresAt: Date.now() + token.expires_in * 1000,
  });
  return token;
}

/** Sends a refresh, and after a lost response once more, while the service takes that for a repetition. */
async function requestRefresh(endpoint: TokenEndpoint, form: Record<string, string>): Promise<Token> {
  const startedAt = performance.now();
  try {
    return await requestToken(endpoint, form, 'rejected');
  } catch (error) {
    const isLost = error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
    const remainingMs = Math.floor(REPEAT_REFRESH_MS - (performance.now() - startedAt));
    if (!isLost || remainingMs <= 0) return toSignInError(error);
    return await requestToken(endpoint, form, 'rejected', AbortSignal.timeout(remainingMs)).catch(toSignInError);
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
  signal?: AbortSignal,
): Promise<Token> {
  const request = new Request(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { 'x-service-region-id': region },
    body: new URLSearchParams(form),
  });
  const response = await transport.send(request, retry, { signal });
  return (await response.json()) as Token;
}

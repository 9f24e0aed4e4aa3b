import { hashSecret } from '../../src/shared/secrets.ts';
import { Browser } from './browser.ts';
import { authorizationParameters, REDIRECT_URI, responseParametersOf, VERIFIER } from './fixtures.ts';
import { type OAuthService, postToken, type WithDatabases } from './service.ts';

/** A client and the user who allows it access. */
interface CodeFlow {
  clientId: string;
  email: string;
  secret?: string;
  /** Changed parameters of the authorization request. */
  changes?: Record<string, string>;
}

/** Signs the user in, allows access and returns the authorization code. */
export async function obtainCode(
  service: Pick<OAuthService, 'app'>,
  { clientId, email, changes }: CodeFlow,
): Promise<string> {
  const browser = new Browser(service.app);
  const consent = await browser.signIn(await browser.open(authorizationParameters(clientId, changes)), email);
  const { code } = responseParametersOf((await browser.submit(consent, 'Allow')).location!);
  if (!code) throw new Error(`No code: ${consent.heading}`);
  return code;
}

/** Sends a token request for the code. */
export const exchangeCode = (
  service: Pick<OAuthService, 'app'>,
  flow: Pick<CodeFlow, 'clientId' | 'secret'>,
  code: string,
  changes: Record<string, unknown> = {},
) =>
  postToken(service.app, {
    ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: VERIFIER },
    ...{ client_id: flow.clientId, client_secret: flow.secret },
    ...changes,
  });

/** Sends a token request for the refresh token. */
export const refreshTokens = (
  service: Pick<OAuthService, 'app'>,
  flow: Pick<CodeFlow, 'clientId' | 'secret'>,
  refresh_token: string,
  changes: Record<string, unknown> = {},
) =>
  postToken(service.app, {
    ...{ grant_type: 'refresh_token', refresh_token, client_id: flow.clientId, client_secret: flow.secret },
    ...changes,
  });

/** Moves the replacement of a refresh token of `au1` into the past. Its age is measured by the database's clock. */
export const backdateRotation = ({ databases }: WithDatabases, refreshToken: string, seconds: number) =>
  databases.au1
    .fork()
    .execute('update oauth_refresh_token set rotated_at = rotated_at - make_interval(secs => ?) where digest = ?', [
      seconds,
      hashSecret(refreshToken),
    ]);

export interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** Runs the complete authorization code flow and returns its tokens. */
export async function obtainTokens(service: Pick<OAuthService, 'app'>, flow: CodeFlow): Promise<Tokens> {
  const { status, body } = await exchangeCode(service, flow, await obtainCode(service, flow));
  if (status !== 200) throw new Error(`No tokens: ${JSON.stringify(body)}`);
  return body;
}

import * as openid from 'openid-client';
import type { OpenIdSettings } from '../../../config.ts';
import type { Identity } from '../../../domain/access/staff-identities.ts';
import { loadOnce } from '../../../shared/load-once.ts';
import type { SignInChecks } from './openid-checks.ts';

/** The provider's and this machine's clock may differ by so much. */
const CLOCK_TOLERANCE_SECONDS = 60;

const TIMEOUT_SECONDS = 10;

/** The OpenID Connect provider of staff users: the code flow with PKCE, state and nonce. Its metadata are read at the first sign-in. */
export class OpenIdProvider {
  /** At which the provider's answer arrives. */
  readonly #redirectUri: string;
  readonly #loadConfiguration: () => Promise<openid.Configuration>;

  constructor(settings: OpenIdSettings, baseUrl: string) {
    this.#loadConfiguration = loadOnce(() => discover(settings));
    this.#redirectUri = `${baseUrl}/console/sign-in/callback`;
  }

  /** Returns the address at the provider to which the browser goes. */
  async createUrl({ state, nonce, verifier }: SignInChecks): Promise<string> {
    const url = openid.buildAuthorizationUrl(await this.#loadConfiguration(), {
      redirect_uri: this.#redirectUri,
      scope: 'openid email',
      state,
      nonce,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /** Returns whom the answer identifies. @param query of the answer. Throws `ClientError` of openid-client, and what `fetch` throws. */
  async identify(query: string, { state, nonce, verifier }: SignInChecks): Promise<Identity> {
    const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
    const configuration = await this.#loadConfiguration();
    const tokens = await openid.authorizationCodeGrant(configuration, new URL(`${this.#redirectUri}?${query}`), checks);
    const claims = tokens.claims()!;
    // The address may be in the ID token or only at the user-info endpoint.
    const { email, email_verified: isVerified } =
      claims.email === undefined && configuration.serverMetadata().userinfo_endpoint
        ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : claims;
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: typeof email === 'string' && isVerified === true ? email : null,
    };
  }
}

function discover({ issuer, clientId, clientSecret }: OpenIdSettings): Promise<openid.Configuration> {
  const metadata = { client_secret: clientSecret, [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
  // Signatures are checked with the provider's present keys, although the tokens come over TLS. `http:` is possible for loopback only.
  const execute = [openid.enableNonRepudiationChecks];
  if (issuer.startsWith('http:')) execute.push(openid.allowInsecureRequests);
  return openid.discovery(new URL(issuer), clientId, metadata, undefined, { execute, timeout: TIMEOUT_SECONDS });
}

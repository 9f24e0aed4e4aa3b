import { Browser } from './browser.ts';
import { answerIn, authorization, REDIRECT, VERIFIER } from './people.ts';
import { type OAuthService, postToken } from './service.ts';

/** A person who has allowed an application the data of their builder. */
export interface Person {
  clientId: string;
  email: string;
  secret?: string;
  changes?: Record<string, string>;
}

/** Signs in and allows: a fresh code. */
export async function codeFor(
  service: Pick<OAuthService, 'app'>,
  { clientId, email, changes }: Person,
): Promise<string> {
  const browser = new Browser(service.app);
  const consent = await browser.signIn(await browser.open(authorization(clientId, changes)), email);
  const { code } = answerIn((await browser.press(consent, 'Allow')).location!);
  if (!code) throw new Error(`No code: ${consent.heading}`);
  return code;
}

export const exchange = (
  service: Pick<OAuthService, 'app'>,
  person: Pick<Person, 'clientId' | 'secret'>,
  code: string,
  changes: Record<string, unknown> = {},
) =>
  postToken(service.app, {
    ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: VERIFIER },
    ...{ client_id: person.clientId, client_secret: person.secret },
    ...changes,
  });

export const refresh = (
  service: Pick<OAuthService, 'app'>,
  person: Pick<Person, 'clientId' | 'secret'>,
  refresh_token: string,
  changes: Record<string, unknown> = {},
) =>
  postToken(service.app, {
    ...{ grant_type: 'refresh_token', refresh_token, client_id: person.clientId, client_secret: person.secret },
    ...changes,
  });

export interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** The whole flow: access and refresh token of that person. */
export async function tokensFor(service: Pick<OAuthService, 'app'>, person: Person): Promise<Tokens> {
  const { status, body } = await exchange(service, person, await codeFor(service, person));
  if (status !== 200) throw new Error(`No tokens: ${JSON.stringify(body)}`);
  return body;
}

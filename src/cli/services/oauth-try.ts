import { text } from 'node:stream/consumers';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { isLoopback } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { parseId, parseScopes } from '../../domain/access/access-values.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { printText } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo, CommandResult } from '../io/cli-io.ts';
import { getPort, listenForRedirect, openBrowser } from '../io/redirect-listener.ts';
import { withDatabases } from './database-session.ts';

/** Options of `oauth try`. */
interface OAuthTryOptions {
  client?: string;
  redirectUri?: string;
  port?: number;
  scope?: string;
  builder?: string;
  secretStdin?: boolean;
  /** Whether to open the browser. */
  open: boolean;
}

interface AuthorizationAttempt {
  baseUrl: string;
  region: RegionId;
  client: OAuthClient;
  redirectUri: string;
  scope: string;
  builderId: string | null;
  secret: string | null;
}

/**
 * Goes through the code flow as an application on this computer would: opens the browser, waits at a loopback redirect URI of
 * the client, and answers the tokens. RFC 8252 section 7.3.
 */
export async function tryOAuth(io: CliIo, request: OAuthTryOptions): Promise<CommandResult> {
  const attempt = await prepareAttempt(io, request);
  const oauth = await import('oauth4webapi');
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(attempt.baseUrl);
  const server = await oauth
    .discoveryRequest(issuer, { algorithm: 'oauth2', ...options })
    .then((response) => oauth.processDiscoveryResponse(issuer, response))
    .catch((error) => {
      throw CliError.forOption('BASE_URL', `no service answers at ${attempt.baseUrl} (${describeFailure(error)})`);
    });
  const client = { client_id: attempt.client.id };
  const authentication = attempt.secret === null ? oauth.None() : oauth.ClientSecretBasic(attempt.secret);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();

  const address = new URL(server.authorization_endpoint!);
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: attempt.client.id,
    redirect_uri: attempt.redirectUri,
    scope: attempt.scope,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(attempt.builderId !== null && { builder_id: attempt.builderId }),
  }).toString();
  const listener = await listenForRedirect(io, new URL(attempt.redirectUri), state);
  try {
    printText(io.stderr, `Open this address in a browser:\n\n  ${address}\n\nWaiting at ${attempt.redirectUri} ...`);
    if (request.open) openBrowser(address.href);
    const parameters = oauth.validateAuthResponse(server, client, await listener.answer, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, authentication, parameters, attempt.redirectUri, verifier, options] as const),
    );
    return toResult(attempt, await oauth.processAuthorizationCodeResponse(server, client, response));
  } catch (error) {
    throw new CliError(`The flow ended without tokens: ${describeFailure(error)}.`);
  } finally {
    listener.close();
  }
}

/** Checks the options and reads the client before the browser opens. */
async function prepareAttempt(io: CliIo, request: OAuthTryOptions): Promise<AuthorizationAttempt> {
  const { config, region, client } = await withDatabases(io, async (databases, config) => ({
    config,
    ...(await findClient(databases, request)),
  }));
  const redirectUri = chooseRedirectUri(client, request);
  const secret = request.secretStdin ? (await text(io.stdin)).trim() : null;
  if (client.type === 'CONFIDENTIAL' && !secret)
    throw CliError.forOption('--secret-stdin', `${client.id} is a confidential client`);
  if (client.type === 'PUBLIC' && secret !== null)
    throw CliError.forOption('--secret-stdin', `${client.id} is a public client and has none`);
  return {
    baseUrl: config.baseUrl,
    region,
    client,
    redirectUri,
    secret,
    scope: (request.scope === undefined ? client.scopes : parseScopes([request.scope])).join(' '),
    builderId: request.builder === undefined ? null : parseId('--builder', 'builder', request.builder),
  };
}

async function findClient(databases: Databases, { client: id }: OAuthTryOptions) {
  if (id !== undefined) parseId('--client', 'client', id);
  const where = { disabledAt: null, ...(id === undefined ? { type: 'PUBLIC' as const } : { id }) };
  const found = await Promise.all(
    REGIONS.map(async (region) => {
      const clients = await databases[region].fork().find(OAuthClient, where);
      return clients.map((client) => ({ region, client }));
    }),
  );
  const [only, ...others] = found.flat().filter(({ client }) => id !== undefined || loopbackUris(client).length > 0);
  if (!only) {
    const problem =
      id === undefined ? 'there is no public client with a loopback redirect URI' : `there is no client ${id}`;
    throw CliError.forOption('--client', problem);
  }
  if (others.length > 0) {
    const ids = [only, ...others].map(({ client }) => client.id).join(' ');
    throw CliError.forOption('--client', `is required because several clients match: ${ids}`);
  }
  return only;
}

/** Redirect URIs that this command can listen at. */
const loopbackUris = ({ redirectUris }: OAuthClient) =>
  redirectUris.filter(
    (uri) => URL.canParse(uri) && new URL(uri).protocol === 'http:' && isLoopback(new URL(uri).hostname),
  );

function chooseRedirectUri(client: OAuthClient, { redirectUri, port }: OAuthTryOptions): string {
  const usable = loopbackUris(client);
  const registered = `it has ${client.redirectUris.join(' ') || 'none'}`;
  if (usable.length === 0)
    throw CliError.forOption('--client', `${client.id} has no redirect URI on http loopback; ${registered}`);
  const wanted = usable.filter(
    (uri) =>
      (redirectUri === undefined || uri === redirectUri) && (port === undefined || getPort(new URL(uri)) === port),
  );
  if (wanted[0] !== undefined) return wanted[0];
  const option = redirectUri === undefined ? '--port' : '--redirect-uri';
  throw CliError.forOption(option, `matches no loopback redirect URI of ${client.id}; ${registered}`);
}

function describeFailure(error: unknown): string {
  const { message, error: code, error_description: description, cause } = error as Error & Record<string, string>;
  if (code) return description ? `${code}: ${description.replace(/\.$/, '')}` : code;
  const inner = (cause as { message?: string } | undefined)?.message;
  return (inner ? `${message}: ${inner}` : message).replace(/\.$/, '');
}

function toResult({ baseUrl, region, client }: AuthorizationAttempt, tokens: object): CommandResult {
  const { access_token, refresh_token, expires_in, scope } = tokens as Record<string, string | number | undefined>;
  const header = region === REGIONS[0] ? '' : ` -H 'X-Service-Region-Id: ${region}'`;
  const lines = [
    `Tokens of ${client.name} (${client.id}), for ${expires_in} seconds and the scopes ${scope}`,
    '',
    `access_token   ${access_token}`,
    ...(refresh_token === undefined ? [] : [`refresh_token  ${refresh_token}`]),
    '',
    'Call the API with it:',
    '',
    `  curl -s ${baseUrl}/me -H "Authorization: Bearer ${access_token}"${header}`,
  ];
  return {
    data: {
      regionId: region,
      clientId: client.id,
      accessToken: access_token,
      refreshToken: refresh_token ?? null,
      expiresIn: expires_in,
      scope,
    },
    text: lines.join('\n'),
  };
}

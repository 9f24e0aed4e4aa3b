import { text } from 'node:stream/consumers';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { isLoopback } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { Refusal, refuse } from '../cli-error.ts';
import type { Report, Shell } from '../io/cli-io.ts';
import { listen, openBrowser, portOf } from '../io/loopback.ts';
import { identifier, scopes } from './checks.ts';
import { withDatabases } from './database-session.ts';

/** Options of the command. */
export interface TryRequest {
  client?: string;
  redirectUri?: string;
  port?: number;
  scope?: string;
  builder?: string;
  secretStdin?: boolean;
  /** False to print the address alone. */
  open: boolean;
}

interface Trial {
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
export async function tryOAuth(shell: Shell, request: TryRequest): Promise<Report> {
  const trial = await prepare(shell, request);
  const oauth = await import('oauth4webapi');
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(trial.baseUrl);
  const server = await oauth
    .discoveryRequest(issuer, { algorithm: 'oauth2', ...options })
    .then((response) => oauth.processDiscoveryResponse(issuer, response))
    .catch((error) => refuse('BASE_URL', `no service answers at ${trial.baseUrl} (${reasonOf(error)})`));
  const client = { client_id: trial.client.id };
  const authentication = trial.secret === null ? oauth.None() : oauth.ClientSecretBasic(trial.secret);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();

  const address = new URL(server.authorization_endpoint!);
  address.search = new URLSearchParams({
    ...{
      response_type: 'code',
      client_id: trial.client.id,
      redirect_uri: trial.redirectUri,
      scope: trial.scope,
    },
    ...{ state, code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
    ...(trial.builderId !== null && { builder_id: trial.builderId }),
  }).toString();
  const waiting = await listen(shell, new URL(trial.redirectUri), state);
  try {
    shell.stderr.write(`Open this address in a browser:\n\n  ${address}\n\nWaiting at ${trial.redirectUri} ...\n`);
    if (request.open) openBrowser(address.href);
    const back = await waiting.answer;
    const parameters = oauth.validateAuthResponse(server, client, back, state);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, authentication, parameters, trial.redirectUri, verifier, options] as const),
    );
    return reportOf(trial, await oauth.processAuthorizationCodeResponse(server, client, response));
  } catch (error) {
    throw new Refusal(`The flow ended without tokens: ${reasonOf(error)}.`);
  } finally {
    waiting.close();
  }
}

/** Everything that can be wrong before a browser opens. */
async function prepare(shell: Shell, request: TryRequest): Promise<Trial> {
  const { config, region, client } = await withDatabases(shell, async (databases, config) => ({
    config,
    ...(await findClient(databases, request)),
  }));
  const redirectUri = chooseRedirectUri(client, request);
  const secret = request.secretStdin ? (await text(shell.stdin)).trim() : null;
  if (client.type === 'CONFIDENTIAL' && !secret) refuse('--secret-stdin', `${client.id} is a confidential client`);
  if (client.type === 'PUBLIC' && secret !== null)
    refuse('--secret-stdin', `${client.id} is a public client and has none`);
  return {
    ...{ baseUrl: config.baseUrl, region, client, redirectUri, secret },
    scope: (request.scope === undefined ? client.scopes : scopes([request.scope])).join(' '),
    builderId: request.builder === undefined ? null : identifier('--builder', 'builder', request.builder),
  };
}

async function findClient(databases: Databases, { client: id }: TryRequest) {
  if (id !== undefined) identifier('--client', 'client', id);
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
    return refuse('--client', problem);
  }
  const names = [only, ...others].map(({ client }) => client.id).join(' ');
  return others.length > 0 ? refuse('--client', `is needed, for there are several: ${names}`) : only;
}

/** Those that this command can wait at. */
const loopbackUris = ({ redirectUris }: OAuthClient) =>
  redirectUris.filter(
    (uri) => URL.canParse(uri) && new URL(uri).protocol === 'http:' && isLoopback(new URL(uri).hostname),
  );

function chooseRedirectUri(client: OAuthClient, { redirectUri, port }: TryRequest): string {
  const usable = loopbackUris(client);
  const registered = `it has ${client.redirectUris.join(' ') || 'none'}`;
  if (usable.length === 0)
    return refuse('--client', `${client.id} has no redirect URI on http loopback; ${registered}`);
  const wanted = usable.filter(
    (uri) =>
      (redirectUri === undefined || uri === redirectUri) && (port === undefined || portOf(new URL(uri)) === port),
  );
  if (wanted[0] !== undefined) return wanted[0];
  const option = redirectUri === undefined ? '--port' : '--redirect-uri';
  return refuse(option, `no loopback redirect URI of ${client.id} is like that; ${registered}`);
}

function reasonOf(error: unknown): string {
  const { message, error: code, error_description: description, cause } = error as Error & Record<string, string>;
  if (code) return description ? `${code}: ${description.replace(/\.$/, '')}` : code;
  const inner = (cause as { message?: string } | undefined)?.message;
  return (inner ? `${message}: ${inner}` : message).replace(/\.$/, '');
}

function reportOf({ baseUrl, region, client }: Trial, tokens: object): Report {
  const { access_token, refresh_token, expires_in, scope } = tokens as Record<string, string | number | undefined>;
  const header = region === REGIONS[0] ? '' : ` -H 'X-Service-Region-Id: ${region}'`;
  const lines = [
    `Tokens of ${client.name} (${client.id}), for ${expires_in} seconds and the scopes ${scope}`,
    '',
    `access_token   ${access_token}`,
    ...(refresh_token === undefined ? [] : [`refresh_token  ${refresh_token}`]),
    '',
    'Ask who it is:',
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

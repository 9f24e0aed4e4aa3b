// The authorization-code flow with PKCE, as an application on this computer runs it (RFC 8252): docs/rest.md shows how to start it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import * as oauth from 'oauth4webapi';

const { CLIENT_ID = '', CLIENT_SECRET, SCOPE = 'read:builders read:projects' } = process.env;
const issuer = new URL(process.env.BASE_URL ?? 'http://localhost:4000');
/** Registered for the client, exactly as it is here. */
const redirectUri = process.env.REDIRECT_URI ?? 'http://127.0.0.1:8977/callback';
const { hostname, port, pathname } = new URL(redirectUri);

/** For a service on this computer alone: every other one has https. */
const options = { [oauth.allowInsecureRequests]: true };
const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
const server = await oauth.processDiscoveryResponse(issuer, discovery);
const client = { client_id: CLIENT_ID };
const authentication = CLIENT_SECRET ? oauth.ClientSecretBasic(CLIENT_SECRET) : oauth.None();
const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();

const listener = createServer((request, response) => {
  const url = new URL(request.url ?? '/', redirectUri);
  const isAnswer = url.pathname === pathname && url.searchParams.get('state') === state;
  response.writeHead(isAnswer ? 200 : 404, { 'Content-Type': 'text/plain', Connection: 'close' });
  response.end(isAnswer ? 'Go back to the terminal; this tab can be closed.' : 'Not found.');
  if (isAnswer) listener.emit('answer', url);
});
await once(listener.listen(Number(port || 80), hostname), 'listening');

const address = new URL(server.authorization_endpoint!);
address.search = new URLSearchParams({
  response_type: 'code',
  client_id: CLIENT_ID,
  redirect_uri: redirectUri,
  scope: SCOPE,
  state,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
}).toString();
console.error(`Open this address in a browser:\n\n  ${address}\n`);
const [answer] = (await once(listener, 'answer')) as [URL];
listener.close();

// Throws with `access_denied` when the user allowed nothing.
const parameters = oauth.validateAuthResponse(server, client, answer, state);
const response = await oauth.authorizationCodeGrantRequest(
  ...([server, client, authentication, parameters, redirectUri, verifier, options] as const),
);
console.log(JSON.stringify(await oauth.processAuthorizationCodeResponse(server, client, response), null, 2));

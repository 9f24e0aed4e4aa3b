import { once } from 'node:events';
import type { Server } from 'node:http';
import { createInterface } from 'node:readline';
import Provider from 'oidc-provider';
import type { ProviderState } from './openid-provider.ts';

/**
 * Runs an OpenID Connect provider on the port of the first argument. Each line of standard input is a state, in JSON, with which it starts
 * again, or `null`, by which it stops; standard output has a line once that is done.
 */
const [port, redirectUri] = process.argv.slice(2) as [string, string];

const now = Date.now;
let wrongBy = 0;
Date.now = () => now() + wrongBy;

let server: Server | undefined;

function createProvider({ accounts, key }: ProviderState): Provider {
  const provider: Provider = new Provider(`http://127.0.0.1:${port}`, {
    clients: [{ client_id: 'console', client_secret: 'console secret', redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // Every other account's claims are in its ID token too; by the standard they are at the user-info endpoint alone.
    conformIdTokenClaims: Number(port) % 2 === 0,
    // Shorter than a clock may be wrong.
    ttl: { IdToken: 30 },
    jwks: { keys: [key] },
    cookies: { keys: ['cookies of a test'] },
    pkce: { required: () => true },
    findAccount: (_context: unknown, id: string) =>
      accounts[id] && { accountId: id, claims: async () => ({ sub: id, ...accounts[id] }) },
    async loadExistingGrant({ oidc }: { oidc: { client: { clientId: string }; session: { accountId: string } } }) {
      const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  return provider;
}

for await (const line of createInterface(process.stdin)) {
  if (server?.listening) {
    server.closeAllConnections();
    await once(server.close(), 'close');
  }
  const state = JSON.parse(line) as ProviderState | null;
  if (state) {
    wrongBy = state.wrongBy;
    server = createProvider(state).listen(Number(port), '127.0.0.1');
    await once(server, 'listening');
  }
  console.info('done');
}

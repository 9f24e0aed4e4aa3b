import Provider from 'oidc-provider';

/** Runs an OpenID Connect provider on the port of the first argument, whose clock is wrong by the milliseconds of the second. */
const [port, wrongBy, redirectUri, accountsJson, keyJson] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const accounts = JSON.parse(accountsJson) as Record<string, { email: string; email_verified: boolean }>;

const now = Date.now;
Date.now = () => now() + Number(wrongBy);

const provider: Provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: 'console', client_secret: 'console secret', redirect_uris: [redirectUri] }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  // Every other account's claims are in its ID token too; by the standard they are at the user-info endpoint alone.
  conformIdTokenClaims: Number(port) % 2 === 0,
  // Shorter than a clock may be wrong.
  ttl: { IdToken: 30 },
  jwks: { keys: [JSON.parse(keyJson)] },
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
provider.listen(Number(port), '127.0.0.1').on('listening', () => console.info('ready'));

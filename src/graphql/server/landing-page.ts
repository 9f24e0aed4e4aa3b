import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';

const PLAIN_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>GraphQL – Builder Integration API</title></head>
<body>
<h1>GraphQL</h1>
<p>Send queries with POST to this address, with an access token: <code>Authorization: Bearer …</code>.
The <a href="/docs">reference</a> says how to get one.</p>
</body>
</html>
`;

/** What a browser finds at `/graphql`: Apollo Sandbox, whose scripts come from Apollo, or in production a plain page of our own. */
export const landingPage = (production: boolean): ApolloServerPlugin =>
  production
    ? { serverWillStart: async () => ({ renderLandingPage: async () => ({ html: PLAIN_PAGE }) }) }
    : ApolloServerPluginLandingPageLocalDefault({ embed: true, includeCookies: false });

/** Apollo's page brings a policy of its own in a meta element; ours loads nothing, as the policy of every response says. */
export const landingPageHeaders = (production: boolean): Record<string, string> =>
  production ? {} : { 'Content-Security-Policy': "frame-ancestors 'none'" };

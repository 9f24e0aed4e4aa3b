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

/** Returns the plugin for the page at `/graphql`: Apollo Sandbox, which loads scripts from Apollo, or in production a static page. */
export const createLandingPage = (production: boolean): ApolloServerPlugin =>
  production
    ? { serverWillStart: async () => ({ renderLandingPage: async () => ({ html: PLAIN_PAGE }) }) }
    : ApolloServerPluginLandingPageLocalDefault({ embed: true, includeCookies: false });

/** Returns the headers of the page. Apollo Sandbox declares its own policy in a meta element; the static page has that of all responses. */
export const createLandingPageHeaders = (production: boolean): Record<string, string> =>
  production ? {} : { 'Content-Security-Policy': "frame-ancestors 'none'" };

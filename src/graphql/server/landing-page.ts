import type { ApolloServerPlugin } from '@apollo/server';

const PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>GraphQL – Builder Integration API</title></head>
<body>
<h1>GraphQL</h1>
<p>Send queries with POST to this address, with an access token: <code>Authorization: Bearer …</code>.
The <a href="/docs">reference</a> says how to get one.</p>
</body>
</html>
`;

/** Leads a browser to GraphiQL, which the console's build contains. */
const FORWARDING = PAGE.replace('</title>', '</title><meta http-equiv="refresh" content="0; url=/graphiql">');

/** Returns the plugin for the page at `/graphql`. Outside production it leads to GraphiQL. */
export const createLandingPage = (production: boolean): ApolloServerPlugin => ({
  serverWillStart: async () => ({ renderLandingPage: async () => ({ html: production ? PAGE : FORWARDING }) }),
});

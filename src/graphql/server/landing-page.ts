import type { ApolloServerPlugin, GraphQLServerListener } from '@apollo/server';
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

/**
 * Returns the plugin for the page at `/graphql`: Apollo Sandbox, which loads scripts from Apollo, or in production a static page. A browser
 * that cannot load Sandbox shows GraphiQL, which the console's build contains.
 */
export function createLandingPage(production: boolean): ApolloServerPlugin {
  if (production) return { serverWillStart: async () => ({ renderLandingPage: async () => ({ html: PLAIN_PAGE }) }) };
  const sandbox = ApolloServerPluginLandingPageLocalDefault({ embed: true, includeCookies: false });
  return {
    async serverWillStart(server) {
      const { renderLandingPage } = (await sandbox.serverWillStart!(server)) as GraphQLServerListener;
      const { html } = await renderLandingPage!();
      return {
        renderLandingPage: async () => ({ html: async () => addFallback(await (html as () => Promise<string>)()) }),
      };
    },
  };
}

/** Adds a script that runs after those of Sandbox, with the nonce of the page. */
function addFallback(page: string): string {
  const [, nonce] = /'nonce-(\w+)'/.exec(page)!;
  const script = "if (!window.EmbeddedSandbox) location.replace('/graphiql');";
  return page.replace('</body>', `<script nonce="${nonce}">${script}</script></body>`);
}

/** Returns the headers of the page. Apollo Sandbox declares its own policy in a meta element; the static page has that of all responses. */
export const createLandingPageHeaders = (production: boolean): Record<string, string> =>
  production ? {} : { 'Content-Security-Policy': "frame-ancestors 'none'" };

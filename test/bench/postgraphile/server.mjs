/**
 * PostGraphile over the same tables, configured as in its guide: the preset for new projects, with conditions on every column. It does not
 * check access tokens, which favours PostGraphile in the comparison.
 */
import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const { DATABASE_URL_AU1, PORT } = process.env;

const instance = postgraphile({
  extends: [PostGraphileAmberPreset],
  pgServices: [makePgService({ connectionString: DATABASE_URL_AU1, schemas: ['public'] })],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
  grafast: { explain: false },
  // The plugin removes conditions on columns that have no index of their own.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
});
const handleRequest = instance.createServ(grafserv).createHandler();
const server = createServer((request, response) => {
  if (request.url === '/health/live') response.end('{}');
  else handleRequest(request, response);
});
server.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit());

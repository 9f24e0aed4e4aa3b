/**
 * PostGraphile over the same tables, as its guide sets it up: the preset for new projects, with conditions on every column. It
 * checks no token, which is in its favour.
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
  // It would leave out conditions on columns without an index of their own.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
});
const answer = instance.createServ(grafserv).createHandler();
const server = createServer((request, response) => {
  if (request.url === '/health/live') response.end('{}');
  else answer(request, response);
});
server.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit());

/**
 * Modules of the service, from those that depend on others to those that others depend on. A file imports from its own module and from
 * modules of later lines; the modules of one line do not import each other. `test/architecture.test.ts` enforces this list, and the
 * diagram in the README is generated from it.
 */
const LAYERS: readonly (readonly Module[])[] = [
  [
    {
      name: 'app',
      about: 'Start and stop, the composition of all modules, the supervisor process and its workers',
      paths: [
        'src/server.ts',
        'src/service.ts',
        'src/start-tasks.ts',
        'src/app.ts',
        'src/services.ts',
        'src/supervision/',
        'src/start-error.ts',
        'src/welcome.ts',
      ],
    },
    { name: 'cli', about: 'Operator commands', paths: ['src/cli.ts', 'src/cli/'] },
  ],
  [
    {
      name: 'console',
      about: "The staff console: sessions, the internal GraphQL schema, the browser's files",
      paths: ['src/console/server/'],
    },
  ],
  [
    {
      name: 'mcp',
      about: 'Tools for agents: the operations of REST through the Model Context Protocol',
      paths: ['src/mcp/'],
    },
  ],
  [
    {
      name: 'rest',
      about: 'REST operations that SOFA generates, validation of requests, the OpenAPI document',
      paths: ['src/rest/'],
    },
    {
      name: 'graphql-server',
      about: 'Apollo Server on Fastify, GraphQL errors, limits of documents and of cost',
      paths: ['src/graphql/server/'],
    },
    { name: 'reports', about: 'The page on which people read a photo report', paths: ['src/reports/'] },
  ],
  [
    {
      name: 'oauth',
      about: 'Token, introspection and revocation endpoints, authorization with its pages',
      paths: ['src/oauth/'],
    },
  ],
  [{ name: 'http', about: 'Transport: headers, bodies, errors, health, metrics, stored bytes', paths: ['src/http/'] }],
  [
    {
      name: 'resolvers',
      about: 'GraphQL resolvers and edges, one folder per area; `registry.ts` lists them; authorization of fields',
      paths: ['resolvers/'],
    },
  ],
  [
    {
      name: 'graphql-engine',
      about: 'Compilation, planning and execution of GraphQL operations; cost. Knows nothing of construction',
      paths: ['src/graphql/engine/'],
    },
  ],
  [
    {
      name: 'auth',
      about:
        'Access tokens, callers, the context of a request, authorization by scope, builder and connection, rate limits, shares',
      paths: ['src/auth/'],
    },
  ],
  [
    { name: 'data-transfer', about: "Import and export of a company's records", paths: ['src/data-transfer/'] },
    { name: 'demo', about: 'The demo company', paths: ['src/demo/'] },
  ],
  [
    {
      name: 'domain',
      about:
        'The logic of access, the audit log, attendance, meetings, photos, photo reports, uploads, events, webhooks, personal data, retention, usage and figures, and the readers of each table. Knows neither GraphQL nor HTTP',
      paths: ['src/domain/'],
    },
  ],
  [
    {
      name: 'dev-postgres',
      about: 'The embedded PostgreSQL, and the choice between it and `DATABASE_URL_…`',
      paths: ['src/dev-postgres/'],
    },
  ],
  [
    { name: 'database', about: 'Batched reads, transactions, connection pools, migrations', paths: ['src/database/'] },
    { name: 'storage', about: 'Stored bytes behind one interface: local disk or S3', paths: ['src/storage/'] },
    { name: 'mail', about: 'Outgoing e-mail', paths: ['src/mail/'] },
    { name: 'images', about: 'Checks and renditions of images, in bounded time and memory', paths: ['src/images/'] },
  ],
  [{ name: 'entities', about: 'One file per table, which is also the GraphQL type', paths: ['entities/'] }],
  [
    {
      name: 'schema',
      about:
        'Vocabulary of the contract: scalars, enums, decorators, pages, scopes; the generated `schema.graphql`, `console.graphql` and `openapi.json`',
      paths: ['schema/'],
    },
  ],
  [{ name: 'config', about: 'Settings from the environment', paths: ['src/config.ts', 'src/config/'] }],
  [
    {
      name: 'limits',
      about: 'Fair shares of callers, paced work, the cost of responses, turns of the event loop',
      paths: ['src/limits/'],
    },
    { name: 'network', about: 'Addresses of clients, and requests to other hosts', paths: ['src/network/'] },
  ],
  [
    {
      name: 'console-browser',
      about: 'The pages of the staff console, and their build: imports nothing of the service',
      paths: ['src/console/browser/', 'src/console/build/'],
    },
    {
      name: 'sdk',
      about: "The integrators' client package: imports nothing of the service",
      paths: ['sdk/src/'],
    },
    {
      name: 'shared',
      about:
        'Errors, regions, clock, secrets, folders, jobs, worker threads and processes: imports nothing of the service',
      paths: ['src/shared/'],
    },
  ],
  [
    {
      name: 'node-internals',
      about:
        'What relies on undocumented interfaces of Node, pg, SOFA and libheif: one file each, with a test at start that names what to do',
      paths: ['src/node-internals/'],
    },
  ],
];

export interface Module {
  /** As in the documentation. */
  name: string;
  about: string;
  /** Folders, with a slash at the end, and files, from the root. */
  paths: readonly string[];
}

/** The module that a file belongs to and the index of its line; undefined for a file of no module. */
export function moduleOf(file: string): { name: string; layer: number } | undefined {
  for (const [layer, modules] of LAYERS.entries()) {
    const found = modules.find(({ paths }) =>
      paths.some((path) => (path.endsWith('/') ? file.startsWith(path) : file === path)),
    );
    if (found) return { name: found.name, layer };
  }
}

/** Returns a page of the documentation with the diagram and the table of modules that it has replaced by those of the layers. */
export function withModules(page: string): string {
  const names = LAYERS.map((modules) => modules.map(({ name }) => name).join(' & '));
  const arrows = names.slice(1).map((name, index) => `  ${names[index]} --> ${name}`);
  const rows = LAYERS.flat().map(({ name, about, paths }) => {
    const folders = paths.map((path) => `\`${path}\``).join(', ');
    return `| ${name} | ${about} | ${folders} |`;
  });
  const diagram = ['```mermaid', 'flowchart TD', ...arrows, '```'];
  const table = ['| Module | Contents | Files |', '|---|---|---|', ...rows];
  return replaceSection(replaceSection(page, 'architecture', diagram), 'modules', table);
}

function replaceSection(page: string, name: string, lines: string[]): string {
  const section = new RegExp(`(<!-- ${name}:start -->\n)[\\s\\S]*?(<!-- ${name}:end -->)`);
  return page.replace(section, (_, start, end) => `${start}${lines.join('\n')}\n${end}`);
}

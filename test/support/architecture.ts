/**
 * Modules of the service, from those that depend on others to those that others depend on. A file imports from its own module and from
 * modules of later lines; the modules of one line do not import each other. `test/architecture.test.ts` enforces this list, and the
 * diagram in the README is generated from it.
 */
export const LAYERS: readonly (readonly Module[])[] = [
  [
    {
      name: 'app',
      paths: [
        'src/server.ts',
        'src/service.ts',
        'src/app.ts',
        'src/supervision/',
        'src/stopwatch.ts',
        'src/welcome.ts',
      ],
    },
    { name: 'cli', paths: ['src/cli.ts', 'src/cli/'] },
  ],
  [
    { name: 'rest', paths: ['src/rest/'] },
    { name: 'graphql-server', paths: ['src/graphql/server/'] },
    { name: 'reports', paths: ['src/reports/'] },
  ],
  [{ name: 'oauth', paths: ['src/oauth/'] }],
  [{ name: 'http', paths: ['src/http/'] }],
  [{ name: 'resolvers', paths: ['resolvers/'] }],
  [{ name: 'graphql-engine', paths: ['src/graphql/engine/'] }],
  [{ name: 'auth', paths: ['src/auth/'] }],
  [
    { name: 'data-transfer', paths: ['src/data-transfer/'] },
    { name: 'demo', paths: ['src/demo/'] },
  ],
  [{ name: 'domain', paths: ['src/domain/'] }],
  [{ name: 'dev-postgres', paths: ['src/dev-postgres/'] }],
  [
    { name: 'database', paths: ['src/database/'] },
    { name: 'storage', paths: ['src/storage/'] },
    { name: 'images', paths: ['src/images/'] },
  ],
  [{ name: 'entities', paths: ['entities/'] }],
  [{ name: 'schema', paths: ['schema/'] }],
  [{ name: 'config', paths: ['src/config.ts'] }],
  [{ name: 'shared', paths: ['src/shared/'] }],
];

export interface Module {
  /** As in the documentation. */
  name: string;
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

const DIAGRAM = /(<!-- architecture:start -->\n)[\s\S]*?(<!-- architecture:end -->)/;

/** Returns a page with its diagram replaced by that of the layers. */
export function withDiagram(page: string): string {
  const names = LAYERS.map((modules) => modules.map(({ name }) => name).join(' & '));
  const arrows = names.slice(1).map((name, index) => `  ${names[index]} --> ${name}`);
  return page.replace(DIAGRAM, `$1\`\`\`mermaid\nflowchart TD\n${arrows.join('\n')}\n\`\`\`\n$2`);
}

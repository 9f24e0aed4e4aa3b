import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = process.cwd();
const BROWSER = join(ROOT, 'src/console/browser');
const OUT = join(ROOT, 'dist/console');
const FINGERPRINT = join(OUT, '.fingerprint');
/** Files of GraphiQL, which the explorer loads. */
const GRAPHIQL = join(ROOT, 'dist/graphiql');

/** Builds the console into `dist/console`, unless it was built from the same sources. */
async function buildConsole(): Promise<void> {
  const fingerprint = await computeFingerprint();
  if ((await readFile(FINGERPRINT, 'utf8').catch(() => null)) === fingerprint) return;
  await writeGraphiql();
  // Vite is loaded only when it is needed: loading takes half a second of each start.
  const { build } = await import('vite');
  await build({
    configFile: false,
    root: BROWSER,
    base: '/console/',
    logLevel: 'warn',
    resolve: { alias: { 'graphiql-files': GRAPHIQL } },
    build: {
      outDir: OUT,
      emptyOutDir: true,
      target: 'es2023',
      // The Content-Security-Policy allows neither inline scripts nor `data:` addresses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 8_000,
      manifest: true,
      rolldownOptions: {
        // Libraries mark modules for bundlers of servers, which concerns no bundle for browsers.
        onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
        input: ['index.html', 'graphiql.html'].map((page) => join(BROWSER, page)),
      },
    },
  });
  await mkdir(OUT, { recursive: true });
  await writeFile(FINGERPRINT, fingerprint);
}

/** Returns a digest of everything that the build reads. */
async function computeFingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(BROWSER, { recursive: true, withFileTypes: true });
  const sources = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const files = [...sources.sort(), join(ROOT, 'package-lock.json'), import.meta.filename];
  for (const file of files) hash.update(file).update(await readFile(file));
  return hash.digest('hex');
}

/** Writes the built GraphiQL, which its package contains as texts, as files. The policy of the explorer's page allows no inline script. */
async function writeGraphiql(): Promise<void> {
  const { js, css, editorWorkerService, jsonWorker, graphqlWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const files = {
    'graphiql.js': js,
    'graphiql.css': css,
    'editor.worker.js': editorWorkerService,
    'json.worker.js': jsonWorker,
    'graphql.worker.js': graphqlWorker,
  };
  await mkdir(GRAPHIQL, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(GRAPHIQL, name), text);
}

if (process.argv[1] === import.meta.filename) await buildConsole();

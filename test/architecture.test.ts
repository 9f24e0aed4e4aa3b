import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** The arrow: a file imports from its own room and from the rooms further down. The doors of one line do not meet. */
const ROOMS = [
  [
    ...['src/app.ts', 'src/server.ts', 'src/service.ts', 'src/supervision/', 'src/stopwatch.ts', 'src/welcome.ts'],
    ...['src/cli.ts', 'src/cli/', 'schema/emit.ts'],
  ],
  ['src/http/'],
  ['src/caller/'],
  ['src/rest/', 'src/graphql/'],
  ['src/reports/'],
  ['src/oauth/'],
  ['schema/build.ts', 'schema/compile.ts'],
  ['schema/execution.ts'],
  ['schema/plan.ts', 'schema/cost.ts', 'schema/metered-field-resolver.ts'],
  ['schema/handlers.ts'],
  ['resolvers/'],
  ['resolvers/loaders/'],
  ['src/database/', 'src/storage/', 'src/images/', 'src/keys.ts'],
  ['entities/'],
];

/** Used anywhere; imports nothing but itself. */
const VOCABULARY = [
  'src/canonical-json.ts',
  'src/config.ts',
  'src/clock.ts',
  'src/context.ts',
  'src/errors.ts',
  'src/ids.ts',
  'src/jobs.ts',
  'src/network.ts',
  'src/oauth/passwords.ts',
  'src/process-identity.ts',
  'src/oauth/secrets.ts',
  'src/shared/fair-semaphore.ts',
  'src/shared/fair-shares.ts',
  'src/shared/parse-json.ts',
  'src/shared/request-usage.ts',
  'src/shared/time-slice.ts',
  'src/shared/hold-until-closed.ts',
  'src/shared/large-body.ts',
  'src/shared/worker-thread.ts',
  'src/tokens.ts',
  'schema/codegen.ts',
  'schema/enums.ts',
  'schema/input.ts',
  'schema/json-chunks.ts',
  'schema/input-rules.ts',
  'schema/list.ts',
  'schema/page.ts',
  'schema/range.ts',
  'schema/response-meter.ts',
  'schema/rest.ts',
  'schema/scalar.ts',
  'schema/scalars.ts',
  'schema/scopes.ts',
  'schema/selection.ts',
];

interface Place {
  level: number;
  room: string;
}

const inRoom = (file: string, room: string) => (room.endsWith('/') ? file.startsWith(room) : file === room);

/** The narrowest room that holds the file. */
function placeOf(file: string): Place | null {
  const places = ROOMS.flatMap((rooms, level) =>
    rooms.filter((room) => inRoom(file, room)).map((room) => ({ level, room })),
  );
  return places.sort((a, b) => b.room.length - a.room.length)[0] ?? null;
}

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);
}

/** Imports of a file, as paths from the root. An import of types alone is one too. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, specifier]) => specifier!);
  return specifiers.map((specifier) => relative(ROOT, resolve(ROOT, dirname(file), specifier)));
}

const files = ['src', 'schema', 'resolvers', 'entities'].flatMap(sources);

describe('the architecture', () => {
  it('has a room for every file', () => {
    const homeless = files.filter((file) => !VOCABULARY.includes(file) && placeOf(file) === null);
    expect(homeless).toEqual([]);
  });

  it('has one direction: no file imports from a room before its own, or beside it', () => {
    const wrong = files.flatMap((file) => {
      const own = placeOf(file);
      return importsOf(file).flatMap((target) => {
        const there = placeOf(target);
        if (VOCABULARY.includes(target) || there === null) return [];
        const allowed = own !== null && (there.room === own.room || there.level > own.level || own.level === 0);
        return allowed ? [] : [`${file} -> ${target}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it('reads the environment in one file', () => {
    const readers = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes('process.env'));
    // The second one passes the environment on to PostgreSQL's programs and takes no setting from it.
    expect(readers).toEqual(['src/config.ts', 'src/database/postmaster.ts']);
  });
});

import { parseArgs } from 'node:util';

/** Folders whose mutants are tested, and the share of them in percent that tests should kill. */
export const SCOPE: Readonly<Record<string, number>> = {
  'src/oauth': 90,
  'src/auth': 90,
  'src/domain/attendance': 90,
  'src/domain/photo-reports': 90,
  'src/domain/photos': 80,
  'src/domain/uploads': 80,
  'src/domain/meetings': 80,
  'src/domain/readers': 80,
  'src/domain': 80,
  'src/database': 80,
  'src/graphql/engine': 80,
};

/** The folder of the table that a file belongs to. */
export const folderOf = (file: string): string | undefined =>
  Object.keys(SCOPE).find((folder) => file.startsWith(`${folder}/`));

export interface Options {
  minutes: number;
  /** Test at most so many mutants of each folder. */
  sample: number;
  only: string[];
  tests: string[];
  perMutant: number;
  retry: boolean;
  write: boolean;
}

export const HELP = `Usage: npm run mutation -- [options]

Changes one expression of the sources at a time, and runs the tests that reach it: one of them should fail.
Results are kept in .mutation, and a later run tests the mutants that have none yet.

  --minutes N       stop after N minutes; 20
  --sample N        N mutants of each folder, always the same ones; the table estimates the others
  --only PREFIX     mutants of files whose path begins so; may be repeated
  --tests PREFIX    tests whose path begins so; may be repeated
  --per-mutant N    run at most N test files for a mutant; 8
  --retry           test the mutants again that survived, and no others
  --write           write the table to docs/testing.md and the survivors to docs/mutants.md; with --minutes 0, nothing else
`;

/** Returns null when help is asked for. Throws for an option that does not exist. */
export function readOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '20' },
      sample: { type: 'string', default: 'Infinity' },
      only: { type: 'string', multiple: true, default: [] },
      tests: { type: 'string', multiple: true, default: [] },
      'per-mutant': { type: 'string', default: '8' },
      retry: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { only, tests, retry, write, help } = values;
  const [minutes, sample, perMutant] = [Number(values.minutes), Number(values.sample), Number(values['per-mutant'])];
  for (const [name, value] of Object.entries({ minutes, sample, 'per-mutant': perMutant })) {
    if (!(value >= 0)) throw new Error(`--${name} has to be a number.`);
  }
  return help ? null : { minutes, sample, only, tests, perMutant, retry, write };
}

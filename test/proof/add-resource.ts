import { rm } from 'node:fs/promises';
import { applyEdit, copyTree, type Procedure, readProcedure, runCommand } from '../support/procedure.ts';

/** Maximum files and lines of a resource. */
export const MOST_FILES = 6;
export const MOST_LINES = 120;

/** Commands that must succeed in the copy after a procedure; the tests by the beginnings of their names. */
const checksWith = (...tests: string[]) => [
  'npx tsc -b .',
  'npm run --silent lint',
  'npm run --silent cli -- schema emit --check',
  `npx vitest run ${tests.map((name) => `test/${name}`).join(' ')}`,
];

const RESOURCE_CHECKS = checksWith(
  ...[
    'auth/access',
    'architecture',
    'graphql/edges',
    'isolation/isolation',
    'rest/ledger',
    'reads/lists',
    'database/migrations',
    'rest/openapi',
    'docs/operations',
    'database/query-plans',
    'database/builder-statements',
  ],
  ...['cli/operation', 'data-transfer/export', 'data-transfer/upsert', 'oauth/consent', 'graphql/schema-document'],
);

const FIELD_CHECKS = checksWith(
  ...['reads/defects', 'data-transfer/export', 'data-transfer/upsert', 'database/migrations', 'rest/openapi'],
  ...['database/query-plans', 'database/builder-statements'],
);

/** Lines of a failed command that the report keeps. */
const KEPT_LINES = 150;

interface AddResourceReport {
  wrong: string[];
  figures: string;
  seconds: Record<string, number>;
}

/** Follows the procedures of CONTRIBUTING.md for a resource and for a field in a copy of the project, then runs the tests there. */
export async function addResource({
  keep,
  say,
}: {
  /** Whether the copy is kept for inspection. */
  keep: boolean;
  say: (line: string) => void;
}): Promise<AddResourceReport> {
  const resource = readProcedure('## Adding a resource', 'add-resource');
  const field = readProcedure('### Adding a response field', 'add-field');
  const files = resource.edits.length;
  const lines = resource.edits.reduce((sum, { addedLines }) => sum + addedLines, 0);
  const seconds: Record<string, number> = {};
  const wrong: string[] = [];
  if (files > MOST_FILES) wrong.push(`${files} files are written by hand, and at most ${MOST_FILES} may be`);
  if (lines > MOST_LINES) wrong.push(`${lines} lines are written by hand, and at most ${MOST_LINES} may be`);
  const folder = copyTree();
  say(`copied to ${folder}`);
  const begin = Date.now();
  const run = async (commands: string[]) => {
    for (const command of commands) {
      if (wrong.length > 0) return;
      const start = Date.now();
      const { code, output } = await runCommand(folder, command);
      seconds[command] = (seconds[command] ?? 0) + Math.round((Date.now() - start) / 1000);
      say(`${code === 0 ? 'done' : 'failed'} in ${Math.round((Date.now() - start) / 1000)} s: ${command}`);
      if (code !== 0) wrong.push(`${command}\n${output.trim().split('\n').slice(-KEPT_LINES).join('\n')}`);
    }
  };
  const follow = async ({ edits, commands }: Procedure, checks: string[]) => {
    if (wrong.length > 0) return;
    for (const edit of edits) applyEdit(folder, edit);
    await run([...commands, ...checks]);
  };
  try {
    await follow(resource, RESOURCE_CHECKS);
    await follow(field, FIELD_CHECKS);
  } finally {
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
  const total = Math.round((Date.now() - begin) / 1000);
  return {
    wrong,
    seconds,
    figures: `A resource takes ${files} files and ${lines} lines, a field one line; ${total} s in all.`,
  };
}

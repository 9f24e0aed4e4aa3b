import { rm } from 'node:fs/promises';
import { applyEdit, copyCheckout, type Guide, readGuide, runCommand } from '../support/contributing-guide.ts';

/** Maximum files and lines of a resource. */
export const MAX_FILES = 6;
export const MAX_LINES = 75;

/** Returns the commands that must succeed in the copy after a procedure. Tests are prefixes of paths under test/. */
const createChecks = (...tests: string[]) => [
  'npm run --silent build',
  'npm run --silent lint',
  'npm run --silent cli -- schema emit --check',
  `npx vitest run ${tests.map((name) => `test/${name}`).join(' ')}`,
];

const RESOURCE_CHECKS = [
  ...createChecks(
    ...[
      'auth/access',
      'architecture',
      'graphql/edges',
      'isolation/isolation',
      'reads/lists',
      'database/migrations',
      'rest/openapi',
      'docs/operations',
      'database/query-plans',
      'database/builder-statements',
    ],
    ...['cli/operation', 'data-transfer/export', 'data-transfer/upsert', 'oauth/consent', 'graphql/schema-document'],
  ),
  'npx vitest run --config vitest.proof.config.ts test/rest/documented-statuses',
];

const FIELD_CHECKS = createChecks(
  ...['reads/defects', 'data-transfer/export', 'data-transfer/upsert', 'database/migrations', 'rest/openapi'],
  ...['database/query-plans', 'database/builder-statements'],
);

/** Lines of a failed command that the report keeps. */
const KEPT_LINES = 150;

interface AddResourceReport {
  problems: string[];
  figures: string;
  seconds: Record<string, number>;
}

/** Applies the procedures of CONTRIBUTING.md for a resource and for a field to a copy of the project, then runs the tests there. */
export async function addResource({
  keep,
  log,
}: {
  /** Whether the copy is kept for inspection. */
  keep: boolean;
  log: (line: string) => void;
}): Promise<AddResourceReport> {
  const resource = readGuide('## Adding a resource', 'add-resource');
  const field = readGuide('### Adding a response field', 'add-field');
  const files = resource.edits.length;
  const lines = resource.edits.reduce((sum, { addedLines }) => sum + addedLines, 0);
  const seconds: Record<string, number> = {};
  const problems: string[] = [];
  if (files > MAX_FILES) problems.push(`${files} files are written by hand, and at most ${MAX_FILES} may be`);
  if (lines > MAX_LINES) problems.push(`${lines} lines are written by hand, and at most ${MAX_LINES} may be`);
  const folder = copyCheckout();
  log(`copied to ${folder}`);
  const begin = Date.now();
  const run = async (commands: string[]) => {
    for (const command of commands) {
      if (problems.length > 0) return;
      const start = Date.now();
      const { code, output } = await runCommand(folder, command);
      seconds[command] = (seconds[command] ?? 0) + Math.round((Date.now() - start) / 1000);
      log(`${code === 0 ? 'done' : 'failed'} in ${Math.round((Date.now() - start) / 1000)} s: ${command}`);
      if (code !== 0) problems.push(`${command}\n${output.trim().split('\n').slice(-KEPT_LINES).join('\n')}`);
    }
  };
  const applyProcedure = async ({ edits, commands }: Guide, checks: string[]) => {
    if (problems.length > 0) return;
    for (const edit of edits) applyEdit(folder, edit);
    await run([...commands, ...checks]);
  };
  try {
    await applyProcedure(resource, RESOURCE_CHECKS);
    await applyProcedure(field, FIELD_CHECKS);
  } finally {
    if (!keep) await rm(folder, { recursive: true, force: true });
  }
  const total = Math.round((Date.now() - begin) / 1000);
  return {
    problems,
    seconds,
    figures: `A resource takes ${files} files and ${lines} lines, a field one line; ${total} s in all.`,
  };
}

import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EQUIVALENT, type Guard, ROOT, readGuardList, scanGuards, toKey } from '../guards/scan-guards.ts';
import { copyCheckout, runCommand } from '../support/contributing-guide.ts';

/** What a test prints that fails because the code without the guard is none. */
const INVALID = /(ReferenceError|SyntaxError|Transform failed|PARSE_ERROR)[^\n]*/;

interface GuardsReport {
  problems: string[];
  figures: string;
}

/**
 * Removes the guards of the code one at a time in a copy of the project, and runs the test that the list names for each. A removal that the
 * test does not notice is a problem.
 *
 * @param options.only Kinds and parts of file names, separated by commas; all guards by default.
 */
export async function guards({
  only = '',
  log,
}: {
  only: string | undefined;
  log: (line: string) => void;
}): Promise<GuardsReport> {
  const list = readGuardList();
  const words = only.split(',');
  const chosen = scanGuards().filter(({ kind, file }) => words.some((word) => kind === word || file.includes(word)));
  const tested = chosen.filter((guard) => !(list.get(toKey(guard)) ?? EQUIVALENT).startsWith(EQUIVALENT));
  const problems = chosen.filter((guard) => !list.has(toKey(guard))).map((guard) => `${toKey(guard)}: not in the list`);
  const folder = copyCheckout();
  // A removal can make a test wait for what never comes.
  const runTests = (tests: readonly string[], limits = '') =>
    runCommand(folder, `npx vitest run ${limits} ${tests.join(' ')}`);
  try {
    symlinkSync(join(ROOT, 'dist'), join(folder, 'dist'));
    const files = [...new Set(tested.map((guard) => list.get(toKey(guard))!))];
    const unchanged = await runTests(files);
    if (unchanged.code !== 0)
      return { problems: [`the tests fail without a removal\n${unchanged.output}`], figures: '' };
    for (const guard of tested) {
      const problem = await remove(guard, list.get(toKey(guard))!);
      log(`${problem ?? 'noticed'}: ${toKey(guard)}`);
      if (problem) problems.push(`${problem}: ${toKey(guard)}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    problems,
    figures: `${tested.length} guards removed, ${chosen.length - tested.length} have no effect alone`,
  };

  /** Returns the problem of a removal that the test does not notice. */
  async function remove({ file, removed }: Guard, test: string): Promise<string | null> {
    const path = join(folder, file);
    const source = await readFile(path, 'utf8');
    writeFileSync(path, removed);
    const { code, output } = await runTests([test], '--bail 1 --testTimeout 60000');
    writeFileSync(path, source);
    if (code === 0) return `${test} does not notice the removal`;
    const invalid = INVALID.exec(output);
    return invalid ? `is no valid code without it (${invalid[0]})` : null;
  }
}

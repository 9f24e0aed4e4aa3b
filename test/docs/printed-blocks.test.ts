import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { readBlocks } from '../support/printed-blocks.ts';

const read = (path: string) => readFileSync(join(PACKAGE_ROOT, path), 'utf8');

const REQUESTS = 'test/docs/documented-commands.proof.test.ts';
const GUIDE = 'test/support/contributing-guide.ts';

/** The blocks of a page, by name or language, that a file runs or applies exactly as they are printed. */
const RUN: [page: string, blocks: string, file: string][] = [
  ['README.md', 'token rest graphql', REQUESTS],
  ['docs/tutorial.md', 'token project upload gallery report webhook program', REQUESTS],
  ['docs/rest.md', 'first reading', REQUESTS],
  ['docs/graphql.md', 'first', REQUESTS],
  ['docs/graphql.md', 'graphql', 'test/graphql/dashboards.test.ts'],
  ['docs/graphql.md', 'codegen', 'test/rest/clients.proof.test.ts'],
  ['docs/webhooks.md', 'first receiver', REQUESTS],
  ['docs/stay-in-sync.md', 'first snapshot sync', REQUESTS],
  ['docs/debugging.md', 'first', REQUESTS],
  ['docs/gallery-sync.md', 'first', REQUESTS],
  ['docs/photo-reports.md', 'first', REQUESTS],
  ['docs/meetings.md', 'first note', REQUESTS],
  ['docs/attendance.md', 'first sign-on sign-off offline gate conflicts day clock', REQUESTS],
  ['docs/code-flow.md', 'authorize code exchange refresh program', REQUESTS],
  ['docs/operations.md', 'package', 'test/service/package.proof.test.ts'],
  ['docs/operations.md', 'roles first-hour', 'test/docs/first-hour.proof.test.ts'],
  ['docs/backup.md', 'archive base-backup store restore verify claim', 'test/proof/restore.ts'],
  ['CONTRIBUTING.md', 'ts diff', GUIDE],
  ['CONTRIBUTING.md', 'add-resource add-field', 'test/docs/contributing.test.ts'],
];

const CHECKOUT = 'It installs or tests the whole checkout, as `.ci/run` does.';
const RECORDS = "It names an operator's own records; the test below checks commands and options.";
const LONG = 'It runs for minutes; the test below checks scripts and files.';

/** Blocks that nothing runs as they are printed, by their beginning, with the reason. */
const EXCERPTS: [page: string, beginning: string, reason: string][] = [
  ['README.md', 'npm ci', CHECKOUT],
  ['CONTRIBUTING.md', 'npm run lint', CHECKOUT],
  ['docs/start-here.md', 'npm ci', CHECKOUT],
  ['docs/testing.md', 'npm test', CHECKOUT],
  ['docs/testing.md', 'npx vitest run --inspect-brk', 'It waits for a debugger.'],
  ['docs/testing.md', 'export LD_PRELOAD', 'It needs libfaketime.'],
  ['docs/access.md', 'npm run cli -- user invite', RECORDS],
  ['docs/access.md', 'npm run cli -- user create', RECORDS],
  ['docs/access.md', 'npm run cli -- audit list', RECORDS],
  ['docs/personal-data.md', 'npm run cli -- person find', RECORDS],
  ['docs/personal-data.md', 'npm run cli -- person texts', RECORDS],
  ['docs/data-transfer.md', 'npm run cli -- export', RECORDS],
  ['docs/backup.md', 'builder-api events renew-epoch', 'A restore of the whole cluster does not need it.'],
  ['docs/console.md', 'scopes: {', 'Three lines of the resolvers of an area.'],
  ['docs/console.md', 'npm run console:types', LONG],
  ['docs/openapi.md', 'npm run cli -- schema emit', LONG],
  ['docs/performance.md', 'npm run bench', LONG],
  ['docs/proofs.md', 'npm run proof', LONG],
];

/** The programs beside the pages, with the test that runs each. */
const PROGRAMS = {
  'docs/code-flow.ts': 'test/docs/code-flow.test.ts',
  'docs/graphql-codegen.ts': 'test/clients/graphql-codegen.config.ts',
};

const blocks = globSync(['*.md', 'docs/**/*.md'], { cwd: PACKAGE_ROOT }).flatMap((page) =>
  readBlocks(page)
    .filter(({ language }) => ['js', 'ts', 'sh', 'shell', 'sql', 'graphql', 'diff'].includes(language))
    .map((block) => ({ page, ...block, name: block.name.replace('commands:', '') })),
);
type Block = (typeof blocks)[number];

const isRun = ({ page, name, language }: Block) =>
  RUN.some(([other, ran]) => other === page && ran.split(' ').some((each) => each === name || each === language));
const isExcerpt = ({ page, text }: Block) =>
  EXCERPTS.some(([other, beginning]) => other === page && text.startsWith(beginning));

describe('the programs that the documents print', () => {
  it('are each run by a test, or listed as an excerpt with a reason', () => {
    const wrong = blocks.filter((block) => isRun(block) === isExcerpt(block));
    expect(wrong.map(({ page, text }) => `${page}: ${text.slice(0, 60)}`)).toEqual([]);
  });

  it.each(RUN)('of %s, %s, are run by %s', (page, names, file) => {
    for (const name of names.split(' ')) {
      const isPrinted = blocks.some((block) => block.page === page && [block.name, block.language].includes(name));
      expect([name, isPrinted]).toEqual([name, true]);
      expect(read(file)).toMatch(new RegExp(`'(commands:)?${name}'|\`\`\`\\(?(\\w+\\|)?${name}\\b`));
    }
    if (file !== 'test/proof/restore.ts') expect(read(file)).toContain(page);
  });

  it.each(EXCERPTS)('of %s has one excerpt that begins with "%s"', (page, beginning) => {
    expect(blocks.filter((block) => block.page === page && block.text.startsWith(beginning))).toHaveLength(1);
  });

  it('and those in files of their own are run by tests', () => {
    expect(globSync('docs/*.ts', { cwd: PACKAGE_ROOT }).sort()).toEqual(Object.keys(PROGRAMS).sort());
    for (const [program, file] of Object.entries(PROGRAMS)) expect(read(file)).toContain(program);
  });
});

/** Lines of the excerpts without their comments. */
const lines = blocks
  .filter((block) => isExcerpt(block) && block.language !== 'ts')
  .flatMap(({ page, text }) => text.split('\n').map((line) => ({ page, line: line.replace(/ +#.*/, '') })));

/** Returns the help of a command of the program. */
async function readHelp(args: string[]): Promise<string> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const code = await runCli([...args, '--help'], { clock: { now: Date.now }, stdin, stdout, stderr });
  expect([args, code]).toEqual([args, 0]);
  stdout.end();
  return text(stdout);
}

describe('the commands of excerpts', () => {
  const scripts = Object.keys(JSON.parse(read('package.json')).scripts);
  const commands = lines.flatMap(({ page, line }) => {
    const [, command] = /^(?:npm run cli --|builder-api) (.*)/.exec(line) ?? [];
    return command ? [[page, command] as const] : [];
  });

  it.each(commands)('of %s have the options that the help lists: %s', async (_page, command) => {
    const words = command.split(' ');
    const [group, subcommand] = words;
    const help = await readHelp(/^[a-z-]+$/.test(subcommand!) ? [group!, subcommand!] : [group!]);
    expect(help).toContain(`Usage: npm run cli -- ${group}`);
    for (const option of words.filter((word) => word.startsWith('--'))) expect(help).toContain(` ${option} `);
  });

  it('name scripts of package.json and files that exist', () => {
    const named = lines.flatMap(({ line }) =>
      [...line.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name]) => name!),
    );
    const files = lines.flatMap(({ line }) => line.match(/\b(?:test|docs)\/[\w./-]+\.\w+/g) ?? []);
    expect([named.length, files.length].every((count) => count > 5)).toBe(true);
    expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
    expect(files.filter((file) => !existsSync(join(PACKAGE_ROOT, file)))).toEqual([]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** What a guard protects: rows, time, access, the order of a list, or an amount. */
export type GuardKind = 'lock' | 'clock' | 'permission' | 'order' | 'limit';

/** A piece of code whose removal leaves the ordinary case working. */
export interface Guard {
  kind: GuardKind;
  file: string;
  /** Its line without indentation, with a number where the file has several alike. */
  text: string;
  /** The text of the file without it. */
  removed: string;
}

interface Pattern {
  kind: GuardKind;
  /** Matches within one line. */
  pattern: RegExp;
  /** What takes the place of a match, with `$1` for its groups. */
  removal: string;
  /** Files in which it is searched; all by default. */
  files?: RegExp;
}

export const ROOT = resolve(import.meta.dirname, '..', '..').replace(/\/dist$/, '');

/** Begins the reason why no test can notice a removal. */
export const EQUIVALENT = 'equivalent: ';

const FOLDERS = ['src', 'resolvers', 'schema'];
/** Code of browsers, of the demo and of the embedded PostgreSQL; the migration, whose functions have tests of their own. */
const EXCLUDED = /^src\/(console\/(browser|build)|demo|dev-postgres|database\/migrations|shared\/clock)/;

/** Where limits are part of the contract. The others bound the cost of work that the same code does. */
const CONTRACT = /^(resolvers|schema)\//;

/** What changes go through. The checks of reads are those of their schema, which `test/isolation/` calls one by one. */
const CHANGES = /^src\/(auth|console|domain|rest)\/|^resolvers\/(?!field|induction|subcontractor)/;

/** Checks of who calls, each a statement of its own. */
const CHECKS = [
  'AllowedHost|Builder|ChangeBudget|RoleForInternalClient|ConnectionScope|EnabledActor|EnabledClient|Integrator|ManageableEndpoint|OwnBucket',
  'OwnPage|Photos|Project|ProjectOfParent|Quota|Scope|Seen|StaffAction|Unchanged|UserAndLinkScheme|WithinQuota|Allowed',
].join('|');

const PATTERNS: readonly Pattern[] = [
  {
    kind: 'lock',
    pattern: /for (no key update|update|share|key share)( of \w+)?( skip locked)?(?=[`'),\s]|$)/g,
    removal: '',
  },
  { kind: 'lock', pattern: /LockMode\.PESSIMISTIC_\w+/g, removal: 'LockMode.NONE' },
  { kind: 'lock', pattern: /\blockRow\(em, /g, removal: 'em.findOne(' },
  { kind: 'lock', pattern: /\bpg_advisory_xact_lock\(/g, removal: 'abs(' },
  { kind: 'lock', pattern: /\bpg_try_advisory_xact_lock\(/g, removal: 'true or 0 = abs(' },
  // A name of its own for each attempt.
  {
    kind: 'lock',
    pattern:
      /\b(acquireRecordLock\(em, |tryTransactionLock\(em, |waitForAdvisoryLock\(client, |(?:tryW|w)ithAdvisoryLock\([\w.]+, )/g,
    removal: '$1Math.random() + ',
  },
  { kind: 'lock', pattern: /repeatable read/g, removal: 'read committed' },
  // The other clock, or another time.
  { kind: 'clock', pattern: /\bdatabases?(\[region\])?\.now\(\)/g, removal: 'Date.now()' },
  {
    kind: 'clock',
    pattern: /\b(clock_timestamp|statement_timestamp)\(\)|\bnow\(\)(?= - (min|interval))/g,
    removal: 'to_timestamp(0)',
  },
  {
    kind: 'permission',
    pattern: /\bthrow (forbidden|insufficientScope)\(/g,
    removal: 'if (false) throw $1(',
    files: CHANGES,
  },
  {
    kind: 'permission',
    pattern: new RegExp(
      `(?<=^ *|\\) )(?:await )?(?:[\\w.#]+\\.)?(?:require(?:${CHECKS})|rejectForeignBucket)\\(.*\\);$`,
      'gm',
    ),
    removal: ';',
    files: CHANGES,
  },
  // The value of the check, without the check.
  { kind: 'permission', pattern: /\.requireClientCredentials\(\)/g, removal: '', files: CHANGES },
  { kind: 'permission', pattern: /(?<== [\w.]*)requireIntegrator\(\)/g, removal: 'integratorId', files: CHANGES },
  {
    kind: 'order',
    pattern: /(order by (?:(?! limit |\)|`|'|;).)*?), (?:[\w.]+)( desc)?(?=[\s`');]|$)(?!.*order by)/g,
    removal: '$1',
  },
  { kind: 'order', pattern: /(orderBy: \{ \w+: '\w+'), \w+: '\w+' \}/g, removal: '$1 }' },
  {
    kind: 'limit',
    pattern: /\b(const MAX_\w+) = [\d_]+( \*+ [\w]+)*;/g,
    removal: '$1 = Number.MAX_SAFE_INTEGER;',
    files: CONTRACT,
  },
  { kind: 'limit', pattern: /\b(const MIN_\w+) = [\d_]+;/g, removal: '$1 = 0;', files: CONTRACT },
];

/** Returns the guards of a file. */
export function scanFile(file: string, source: string): Guard[] {
  const guards: Guard[] = [];
  const counts = new Map<string, number>();
  for (const { kind, pattern, removal, files } of PATTERNS) {
    if (files && !files.test(file)) continue;
    for (const match of source.matchAll(pattern)) {
      const begin = source.lastIndexOf('\n', match.index) + 1;
      const line = source.slice(begin, source.indexOf('\n', match.index)).trim();
      if (/^(\/\/|\/?\*|import |export (async )?function |(async )?function )/.test(line)) continue;
      const key = `${kind} ${line}`;
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      const replacement = removal.replace(/\$(\d)/g, (_, group) => match[Number(group)] ?? '');
      const removed = source.slice(0, match.index) + replacement + source.slice(match.index + match[0].length);
      guards.push({ kind, file, text: count === 1 ? line : `${line} (${count})`, removed });
    }
  }
  return guards;
}

/** Returns the guards of the service, by file. */
export const scanGuards = (): Guard[] =>
  FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => `${folder}/${name}`),
  )
    .filter((file) => !EXCLUDED.test(file))
    .sort()
    .flatMap((file) => scanFile(file, readFileSync(join(ROOT, file), 'utf8')));

/** Identifies a guard in the list. */
export const toKey = ({ kind, file, text }: Pick<Guard, 'kind' | 'file' | 'text'>): string =>
  `${kind}\t${file}\t${text}`;

/** Returns the test file that notices the removal of each guard, by key; or the reason why none can. */
export function readGuardList(): Map<string, string> {
  const lines = readFileSync(join(ROOT, 'test/guards/guards.tsv'), 'utf8').trim().split('\n');
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf('\t')), line.slice(line.lastIndexOf('\t') + 1)]));
}

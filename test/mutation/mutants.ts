import { findFunctionBodies, type Node, parse, ts } from './typescript.ts';

/** One small change of a source file, which a test should notice. */
export interface Mutant {
  /** File, line of source and change; the same after changes elsewhere in the file. */
  id: string;
  file: string;
  /** From 1. */
  line: number;
  start: number;
  end: number;
  replacement: string;
  /** Index of the innermost function around it, as `findFunctionBodies` counts them; null at the top level of the module. */
  functionIndex: number | null;
}

type Edit = Pick<Mutant, 'start' | 'end' | 'replacement'>;

const { SyntaxKind } = ts;

const OPERATORS = new Map<number, string>([
  [SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [SyntaxKind.EqualsEqualsToken, '!='],
  [SyntaxKind.ExclamationEqualsToken, '=='],
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
  [SyntaxKind.AmpersandAmpersandToken, '||'],
  [SyntaxKind.BarBarToken, '&&'],
  [SyntaxKind.MinusToken, '+'],
  [SyntaxKind.AsteriskToken, '/'],
  [SyntaxKind.SlashToken, '*'],
]);

/** Changes of SQL: locks, conditions and conflict clauses, on which concurrent requests depend. */
const SQL_CHANGES: readonly [pattern: RegExp, replacement: string][] = [
  [/ for (?:update|share)\b(?: skip locked)?/g, ''],
  [/ on conflict(?: \([^)]*\))? do nothing/g, ''],
  [/pg_advisory_xact_lock(?=\()/g, 'pg_try_advisory_xact_lock'],
  [/\bis not null\b/g, 'is null'],
  [/\bis null\b/g, 'is not null'],
  [/\bnot exists\b/g, 'exists'],
  [/(?<!not )\bexists\b/g, 'not exists'],
  [/\bis not distinct from\b/g, 'is distinct from'],
  [/\bis distinct from\b/g, 'is not distinct from'],
  [/ and /g, ' or '],
  [/ or /g, ' and '],
  [/ <= /g, ' < '],
  [/ < /g, ' <= '],
  [/ >= /g, ' > '],
  [/ > /g, ' >= '],
  [/ <> /g, ' = '],
  [/ = /g, ' <> '],
  [/ desc\b/g, ' asc'],
];

const SQL =
  /(?:^|\s)(?:select|insert into|update \w+|delete from|where|for update|for share|on conflict|from \w+|is (?:not )?null)\b/;
/** The last of these keywords before an `=` determines whether it compares or assigns. */
const CLAUSE = /\b(where|and|or|on|when|set|update|values|select)\b/g;

/** Returns all mutants of one file, in source order. */
export function findMutants(file: string, source: string): Mutant[] {
  const sourceFile = parse(file, source);
  const bodies = findFunctionBodies(sourceFile);
  const isSqlFile = /\b(select|insert|update|delete) /.test(source);
  const found: Edit[] = [];
  const visit = (node: Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    found.push(...editsOfNode(node));
    if (isSqlFile && isText(node)) found.push(...editsOfSql(node, source));
    ts.forEachChild(node, visit);
  };
  visit(sourceFile);
  const counts = new Map<string, number>();
  return found
    .toSorted((one, other) => one.start - other.start)
    .map((edit) => {
      const { line } = sourceFile.getLineAndCharacterOfPosition(edit.start);
      const change = `${abbreviate(source.slice(edit.start, edit.end))} -> ${abbreviate(edit.replacement)}`;
      const name = `${file} | ${abbreviate(source.split('\n')[line]!.trim())} | ${change}`;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const around = bodies.findLastIndex((body) => body.pos <= edit.start && edit.end <= body.end);
      const id = count === 1 ? name : `${name} | ${count}`;
      return { id, file, line: line + 1, ...edit, functionIndex: around < 0 ? null : around };
    });
}

export const applyMutant = (source: string, { start, end, replacement }: Edit): string =>
  source.slice(0, start) + replacement + source.slice(end);

const abbreviate = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 120 ? `${line.slice(0, 117)}...` : line;
};

const createEdit = (node: Node, replacement: string): Edit => ({ start: node.getStart(), end: node.end, replacement });

function editsOfNode(node: Node): Edit[] {
  if (ts.isIfStatement(node) || ts.isWhileStatement(node)) return negate(node.expression);
  if (ts.isConditionalExpression(node)) return negate(node.condition);
  if (ts.isBinaryExpression(node)) {
    const replacement = OPERATORS.get(node.operatorToken.kind);
    return replacement === undefined ? [] : [createEdit(node.operatorToken, replacement)];
  }
  if (node.kind === SyntaxKind.TrueKeyword) return [createEdit(node, 'false')];
  if (node.kind === SyntaxKind.FalseKeyword) return [createEdit(node, 'true')];
  // The factors of a product change together, with its operator.
  if (ts.isNumericLiteral(node))
    return isFactor(node) ? [] : [createEdit(node, String(Number(node.text.replaceAll('_', '')) + 1))];
  if (ts.isThrowStatement(node)) return [createEdit(node, ';')];
  if (ts.isExpressionStatement(node)) return hasEffect(node.expression) ? [createEdit(node, ';')] : [];
  if (ts.isPropertyAccessExpression(node) && /^LockMode\.PESSIMISTIC_/.test(node.getText())) {
    return [createEdit(node, 'LockMode.NONE')];
  }
  return [];
}

/** Negates a condition. An equality comparison is negated by its operator instead. */
const negate = (condition: Node): Edit[] =>
  ts.isBinaryExpression(condition) && /^[!=]==?$/.test(condition.operatorToken.getText())
    ? []
    : [createEdit(condition, `!(${condition.getText()})`)];

const isFactor = ({ parent }: Node): boolean =>
  ts.isBinaryExpression(parent) &&
  [SyntaxKind.AsteriskToken, SyntaxKind.SlashToken].includes(parent.operatorToken.kind as never);

function hasEffect(expression: Node): boolean {
  if (ts.isCallExpression(expression)) return expression.expression.kind !== SyntaxKind.SuperKeyword;
  if (ts.isAwaitExpression(expression)) return true;
  return ts.isBinaryExpression(expression) && expression.operatorToken.getText().endsWith('=');
}

const isText = (node: Node): boolean =>
  ts.isStringLiteral(node) ||
  ts.isNoSubstitutionTemplateLiteral(node) ||
  [SyntaxKind.TemplateHead, SyntaxKind.TemplateMiddle, SyntaxKind.TemplateTail].includes(node.kind);

function editsOfSql(node: Node, source: string): Edit[] {
  const start = node.getStart();
  const text = source.slice(start, node.end);
  if (!SQL.test(text.slice(1)) && !/^\W*(and|or|order by) /.test(text)) return [];
  return SQL_CHANGES.flatMap(([pattern, replacement]) =>
    [...text.matchAll(pattern)]
      .filter(({ index }) => replacement !== ' <> ' || !isAssignment(text.slice(0, index)))
      .map(({ index, 0: match }) => ({ start: start + index, end: start + index + match.length, replacement })),
  );
}

const isAssignment = (before: string): boolean =>
  ['set', 'update', 'values'].includes([...before.matchAll(CLAUSE)].at(-1)?.[1] ?? '');

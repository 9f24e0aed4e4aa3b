/** Values of every JSON type, for fields of another type. */
const WRONG_VALUES: readonly unknown[] = [
  ...[null, true, 7, -1, 1.5, 1e300, '', 'x', 'x'.repeat(21_000)],
  ...[[], ['x'], [null], [[7]], {}, { toString: 1 }, [{ x: 1 }]],
];

/** Values of a query parameter, each of which at least one parameter type rejects. */
export const WRONG_TEXTS: readonly string[] = ['', 'x', '1.5', '-1', '26', '1e9', 'null', '{}', 'yes', '2026-13-01'];

type Path = readonly (string | number)[];

/** Returns functions that copy a body with one error each: a value of another type at a path, or a missing value. */
export function* generateWrongBodies(body: object): Generator<{ path: Path; value: unknown; createBody(): object }> {
  for (const path of pathsOf(body)) {
    const values = typeof path.at(-1) === 'string' ? [...WRONG_VALUES, undefined] : WRONG_VALUES;
    for (const value of values) yield { path, value, createBody: () => replaceAt(body, path, value) };
  }
}

function* pathsOf(value: unknown, path: Path = []): Generator<Path> {
  if (path.length > 0) yield path;
  if (value === null || typeof value !== 'object') return;
  for (const [key, item] of Object.entries(value)) {
    yield* pathsOf(item, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

function replaceAt(body: object, path: Path, value: unknown): object {
  const copy = structuredClone(body);
  // biome-ignore lint/suspicious/noExplicitAny: the path was read from the body.
  const parent = path.slice(0, -1).reduce<any>((at, key) => at[key], copy);
  if (value === undefined) delete parent[path.at(-1)!];
  else parent[path.at(-1)!] = value;
  return copy;
}

import { findFunctionBodies, parse, ts } from './typescript.ts';

declare global {
  /** Functions that were called, as `file:index`. */
  var reachedFunctions: Set<string> | undefined;
}

/** Returns the source with code by which each function adds itself to `globalThis.reachedFunctions` when it is called. */
export function instrumentFunctions(file: string, source: string): string {
  const insertions: [position: number, text: string][] = [];
  for (const [index, body] of findFunctionBodies(parse(file, source)).entries()) {
    const record = `(globalThis.reachedFunctions ??= new Set()).add(${JSON.stringify(`${file}:${index}`)})`;
    const start = body.getStart();
    if (ts.isBlock(body)) insertions.push([start + 1, `${record};`]);
    else insertions.push([start, `(${record}, `], [body.end, ')']);
  }
  // From the end, so that the positions before stay right.
  insertions.sort(([one], [other]) => other - one);
  return insertions.reduce((code, [at, text]) => code.slice(0, at) + text + code.slice(at), source);
}

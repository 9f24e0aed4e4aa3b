/** Returns the code with `(WORK)()` in place of each `traced(NAME, ATTRIBUTES, WORK, ...)`. */
export function withoutSpans(code: string): string {
  const [head, ...calls] = code.split(/(?<!\.)\btraced\(/);
  return calls.reduce((done, call) => {
    const ends: number[] = [];
    let depth = 0;
    let at = 0;
    for (; depth >= 0; at++) {
      const character = call[at];
      if (character === undefined) throw new Error('A call of traced does not end.');
      if ('([{'.includes(character)) depth++;
      if (')]}'.includes(character)) depth--;
      if ((character === ',' && depth === 0) || depth < 0) ends.push(at);
    }
    return `${done}(${call.slice(ends[1]! + 1, ends[2])})()${call.slice(at)}`;
  }, head!);
}

/** Returns the code with each call `traced(NAME, ATTRIBUTES, FUNCTION, ...)` replaced by `(FUNCTION)()`. */
export function removeSpans(code: string): string {
  const [head, ...calls] = code.split(/(?<!\.)\btraced\(/);
  return calls.reduce((result, call) => {
    const argumentEnds: number[] = [];
    let depth = 0;
    let index = 0;
    for (; depth >= 0; index++) {
      const character = call[index];
      if (character === undefined) throw new Error('A call of traced does not end.');
      if ('([{'.includes(character)) depth++;
      if (')]}'.includes(character)) depth--;
      if ((character === ',' && depth === 0) || depth < 0) argumentEnds.push(index);
    }
    return `${result}(${call.slice(argumentEnds[1]! + 1, argumentEnds[2])})()${call.slice(index)}`;
  }, head!);
}

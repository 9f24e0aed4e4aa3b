/** Markup that is safe to send. Made by `html` alone, which escapes whatever is not. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = Markup | string | number | null | false | readonly Part[];

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** A template whose values are escaped, for text and for attributes in quotes. Null and false leave nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = strings[0]!;
  for (const [index, part] of parts.entries()) text += textOf(part) + strings[index + 1]!;
  return new Markup(text);
}

function textOf(part: Part): string {
  if (part === null || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(textOf).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

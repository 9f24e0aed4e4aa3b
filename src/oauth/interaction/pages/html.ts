/** HTML that is safe to send. Only `html` creates it. */
export class Markup {
  constructor(readonly text: string) {}
}

type TemplateValue = Markup | string | number | null | false | readonly TemplateValue[];

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/**
 * Creates markup from a template. Values are escaped for text and quoted attributes, except markup; null and false render
 * as nothing.
 */
export function html(strings: TemplateStringsArray, ...values: readonly TemplateValue[]): Markup {
  let text = strings[0]!;
  for (const [index, value] of values.entries()) text += toHtml(value) + strings[index + 1]!;
  return new Markup(text);
}

function toHtml(value: TemplateValue): string {
  if (value === null || value === false) return '';
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(toHtml).join('');
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character]!);
}

import { enumValues } from './enums.ts';

/** `page`, `['blocks', 3, 'title']` to `page.blocks[3].title`. */
export function fieldPath(name: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`), name);
}

/** graphql-js speaks of types; the client is better served by what is wrong. */
export function messageOf(message: string): string {
  if (
    /^Expected (non-nullable type|value of type "[^"]+!", found null)|is required, but it was not provided/.test(
      message,
    )
  )
    return 'is required';
  const enumName = /(?:does not exist in|cannot represent [^:]*:).*? "(\w+)" enum|^Enum "(\w+)"/.exec(message);
  const values = enumName && enumValues.get((enumName[1] ?? enumName[2])!);
  if (values) return `must be one of ${values.join(', ')}`;
  return message.replace(/^Expected type "\w+"\. ?/, '').replace(/^Expected value of type "[^"]+", found [^;]*; ?/, '');
}

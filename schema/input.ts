import { type GraphQLInputType, isInputObjectType, isNonNullType } from 'graphql';
import type { FieldError } from '../src/errors.ts';
import { enumValues } from './enums.ts';

/** `page`, `['blocks', 3, 'title']` to `page.blocks[3].title`. */
export function fieldPath(name: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`), name);
}

/** What a client reads of an error that graphql-js found at the path. */
export function fieldError(name: string, path: readonly (string | number)[], message: string) {
  // It places a missing field at the object that should have it.
  const missing = /^Field "(\w+)" of required type .* was not provided/.exec(message);
  if (missing) return { fieldName: fieldPath(name, [...path, missing[1]!]), message: 'is required' };
  return { fieldName: fieldPath(name, path), message: messageOf(message) };
}

/** What a value of a type of GraphQL's own must be. */
const BUILT_IN = {
  Boolean: 'must be true or false',
  String: 'must be a string',
  Int: 'must be a 32-bit integer',
  Float: 'must be a number',
};

/** Characters of a message of graphql-js, which repeats the value; what it says of it stands at its ends. */
const MAX_MESSAGE = 1_000;

/** graphql-js speaks of types; the client is better served by what is wrong. */
export function messageOf(whole: string): string {
  const half = MAX_MESSAGE / 2;
  const message = whole.length > MAX_MESSAGE ? `${whole.slice(0, half)}…${whole.slice(-half)}`.toWellFormed() : whole;
  if (
    /^Expected (non-nullable type|value of type "[^"]+!", found null)|is required, but it was not provided/.test(
      message,
    )
  )
    return 'is required';
  const enumName = /(?:does not exist in|cannot represent [^:]*:).*? "(\w+)" enum|^Enum "(\w+)"/.exec(message);
  const values = enumName && enumValues.get((enumName[1] ?? enumName[2])!);
  if (values) return `must be one of ${values.join(', ')}`;
  const builtIn = /^(Boolean|String|Int|Float) cannot represent/.exec(message);
  if (builtIn) return BUILT_IN[builtIn[1] as keyof typeof BUILT_IN];
  return message.replace(/^Expected type "\w+"\. ?/, '').replace(/^Expected value of type "[^"]+", found [^;]*; ?/, '');
}

/** Everything that is wrong with a whole value, with paths that begin with the name. */
export type Inspect = (value: unknown, name: string) => FieldError[];

/**
 * What looks at a value before its type does: a type with rules that GraphQL cannot say brings it as `extensions.inspect`, so that
 * a client hears of all that is wrong at once. It must refuse whatever the type would.
 */
export function inspectionOf(type: GraphQLInputType): Inspect | undefined {
  const nullable = isNonNullType(type) ? type.ofType : type;
  return isInputObjectType(nullable) ? (nullable.extensions.inspect as Inspect | undefined) : undefined;
}

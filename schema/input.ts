import { GraphQLError, type GraphQLInputType, isInputObjectType, isNonNullType } from 'graphql';
import type { FieldError } from '../src/shared/errors.ts';
import { enumValues } from './enums.ts';

/** `page`, `['blocks', 3, 'title']` to `page.blocks[3].title`. */
export function fieldPath(name: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`), name);
}

/** The error that a client reads for one that graphql-js found at the path: it speaks of JSON, never of GraphQL types. */
export function fieldError(name: string, path: readonly (string | number)[], error: GraphQLError): FieldError {
  // graphql-js reports a missing or an unknown field at the object, not at the field.
  const field = /^Field "(?:\w+\.)?(\w+)" (of required type|is not defined by type)/.exec(error.message);
  const fieldName = fieldPath(name, field ? [...path, field[1]!] : path);
  return { fieldName, message: messageOf(error) };
}

const BUILT_IN: Record<string, string> = {
  Boolean: 'must be true or false',
  Float: 'must be a number',
  ID: 'must be a string',
  Int: 'must be a 32-bit integer',
  String: 'must be a string',
};

/** Characters of a message of graphql-js, which repeats the value; what it says of it stands at its ends. */
const MAX_MESSAGE = 1_000;

/** Messages of graphql-js, and what they mean to a client that knows the field and not the type. */
const MESSAGES: [pattern: RegExp, message: (type: string) => string | undefined][] = [
  [
    /^Expected non-nullable type|^Expected value of type "[^"]+!", found null|^Field "[\w.]+" of required type/,
    required,
  ],
  [/is required, but it was not provided/, required],
  [/^Field "\w+" is not defined by type/, () => 'is not a field of this object'],
  [/(?:Enum|in) "(\w+)"|"(\w+)" enum/, oneOfValues],
  [/^(Boolean|Float|ID|Int|String) cannot represent/, (type) => BUILT_IN[type]],
  [/^Expected value of type "\[/, () => 'must be an array'],
  [/^Expected value of type "(Boolean|Float|ID|Int|String)!?"/, (type) => BUILT_IN[type]],
  [/^Expected (?:value of )?type "\w+!?"/, () => 'must be an object'],
];

function required(): string {
  return 'is required';
}

function oneOfValues(type: string): string | undefined {
  const values = enumValues.get(type);
  return values && `must be one of ${values.join(', ')}`;
}

/** The rule that the value breaks: the message of a scalar of the service, else the translation of a message of graphql-js. */
export function messageOf({ message: whole, originalError }: GraphQLError): string {
  if (originalError && !(originalError instanceof GraphQLError)) return originalError.message;
  const half = MAX_MESSAGE / 2;
  const message = whole.length > MAX_MESSAGE ? `${whole.slice(0, half)}…${whole.slice(-half)}`.toWellFormed() : whole;
  for (const [pattern, translate] of MESSAGES) {
    const match = pattern.exec(message);
    const translated = match && translate(match.slice(1).find(Boolean) ?? '');
    if (translated) return translated;
  }
  return 'is not valid';
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

import { GraphQLError } from 'graphql';
import type { FieldError } from '../src/shared/errors.ts';
import { enumValues } from './enums.ts';
import { JsonValueError } from './json-problems.ts';

/** Returns the path as clients read it: `page.blocks[3].title` for `page` and `['blocks', 3, 'title']`. */
export function formatFieldPath(name: string, path: readonly (string | number)[]): string {
  return path.reduce<string>((text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${key}`), name);
}

/** Returns the field errors for an error of graphql-js at the path. Their messages name no GraphQL types. */
export function toFieldErrors(name: string, path: readonly (string | number)[], error: GraphQLError): FieldError[] {
  if (error.originalError instanceof JsonValueError) {
    const start = formatFieldPath(name, path);
    return error.originalError.errors.map(({ fieldName, message }) => ({ fieldName: start + fieldName, message }));
  }
  // graphql-js reports a missing or an unknown field at the object, not at the field.
  const field = /^Field "(?:\w+\.)?(\w+)" (of required type|is not defined by type)/.exec(error.message);
  const fieldName = formatFieldPath(name, field ? [...path, field[1]!] : path);
  return [{ fieldName, message: toMessage(error) }];
}

const BUILT_IN: Record<string, string> = {
  Boolean: 'must be true or false',
  Float: 'must be a number',
  ID: 'must be a string',
  Int: 'must be a 32-bit integer',
  String: 'must be a string',
};

/** Maximum characters of a graphql-js message that is matched. It repeats the value; its beginning and end state the problem. */
const MAX_MESSAGE = 1_000;

/** Messages of graphql-js and their translations for clients, who know the field and not the type. */
const MESSAGES: [pattern: RegExp, message: (type: string) => string | undefined][] = [
  [
    /^Expected non-nullable type|^Expected value of type "[^"]+!", found null|^Field "[\w.]+" of required type/,
    describeRequired,
  ],
  [/is required, but it was not provided/, describeRequired],
  [/^Field "\w+" is not defined by type/, () => 'is not a field of this object'],
  [/(?:Enum|in) "(\w+)"|"(\w+)" enum/, describeEnumValues],
  [/^(Boolean|Float|ID|Int|String) cannot represent/, (type) => BUILT_IN[type]],
  [/^Expected value of type "\[/, () => 'must be an array'],
  [/^Expected value of type "(Boolean|Float|ID|Int|String)!?"/, (type) => BUILT_IN[type]],
  [/^Expected (?:value of )?type "\w+!?"/, () => 'must be an object'],
];

function describeRequired(): string {
  return 'is required';
}

function describeEnumValues(type: string): string | undefined {
  const values = enumValues.get(type);
  return values && `must be one of ${values.join(', ')}`;
}

/** Returns the message of a scalar of the service, else the translation of a message of graphql-js. */
function toMessage({ message: fullMessage, originalError }: GraphQLError): string {
  if (originalError && !(originalError instanceof GraphQLError)) return originalError.message;
  const half = MAX_MESSAGE / 2;
  const message =
    fullMessage.length > MAX_MESSAGE
      ? `${fullMessage.slice(0, half)}…${fullMessage.slice(-half)}`.toWellFormed()
      : fullMessage;
  for (const [pattern, translate] of MESSAGES) {
    const match = pattern.exec(message);
    const translated = match && translate(match.slice(1).find(Boolean) ?? '');
    if (translated) return translated;
  }
  return 'is not valid';
}

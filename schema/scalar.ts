import { GraphQLScalarType, type ValueNode, valueFromASTUntyped } from 'graphql';

/** JSON Schema of a scalar, as the OpenAPI document prints it. */
export interface JsonSchema {
  [keyword: string]: unknown;
}

interface ScalarOptions<T> {
  name: string;
  description: string;
  /** Published in the OpenAPI document, its `examples` included. */
  jsonSchema: JsonSchema;
  /** URL of the standard that its values follow, for `@specifiedBy`. */
  specifiedBy?: string;
  /** Its type in a TypeScript client, where the JSON Schema does not tell it. */
  typescript?: string;
  /** Gives the value, or throws with the message that the client reads beside the field's name. */
  parse: (value: unknown) => T;
  /** How the text of a query parameter or header becomes a value for `parse`. Default: the text itself. */
  fromText?: (text: string) => unknown;
}

/** Standards that scalars follow. */
export const STANDARDS = {
  dateTime: 'https://www.rfc-editor.org/rfc/rfc3339',
  email: 'https://www.rfc-editor.org/rfc/rfc5321',
  json: 'https://www.rfc-editor.org/rfc/rfc8259',
  timeZone: 'https://www.iana.org/time-zones',
  uri: 'https://www.rfc-editor.org/rfc/rfc3986',
} as const;

/** A scalar whose rule is checked alike in a GraphQL variable, a GraphQL literal, a query string and a JSON body. */
export function scalar<T>({
  name,
  description,
  jsonSchema,
  specifiedBy,
  typescript,
  parse,
  fromText,
}: ScalarOptions<T>): GraphQLScalarType<T, unknown> {
  return new GraphQLScalarType<T, unknown>({
    name,
    description,
    specifiedByURL: specifiedBy,
    serialize: (value) => value,
    parseValue: parse,
    parseLiteral: (node: ValueNode, variables) => parse(valueFromASTUntyped(node, variables)),
    extensions: { jsonSchema, fromText, typescript },
  });
}

/** Not a GraphQLError: graphql-js passes those on without the place in the document. */
export const fail = (message: string): never => {
  throw new TypeError(message);
};

/** Digits of a query parameter to a number; anything else stays text, which the scalar then refuses. */
export const integerFromText = (text: string): unknown => (/^-?\d{1,15}$/.test(text) ? Number(text) : text);
export const booleanFromText = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);

/** Whether a text has `min` to `max` Unicode code points. Takes time in proportion to `max`, not to the text. */
export function hasLength(text: string, min: number, max: number): boolean {
  // A text has no more code points than code units, and at least half as many.
  if (text.length > 2 * max) return false;
  const points = text.length > max || text.length < 2 * min ? countCodePoints(text) : text.length;
  return points >= min && points <= max;
}

/** Counts Unicode code points without making a list of them. */
export function countCodePoints(text: string): number {
  let points = 0;
  for (let at = 0; at < text.length; at++) {
    // The second half of a pair counts with the first.
    if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) points++;
  }
  return points;
}

import { BREAK, GraphQLScalarType, type ValueNode, valueFromASTUntyped, visit } from 'graphql';

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
  /** Type in TypeScript clients, where it cannot be derived from the JSON Schema. */
  typescript?: string;
  /** Returns the value, or throws an error with the message for the client. */
  parse: (value: unknown) => T;
  /** Returns the value to parse for the text of a query parameter or header. Default: the text. */
  fromText?: (text: string) => unknown;
  /** Components of the OpenAPI document in place of the JSON Schema; the first is that of the scalar. */
  components?: Record<string, JsonSchema>;
}

/** Standards that scalars follow. */
export const STANDARDS = {
  dateTime: 'https://www.rfc-editor.org/rfc/rfc3339',
  email: 'https://www.rfc-editor.org/rfc/rfc5321',
  json: 'https://www.rfc-editor.org/rfc/rfc8259',
  timeZone: 'https://www.iana.org/time-zones',
  uri: 'https://www.rfc-editor.org/rfc/rfc3986',
} as const;

/** Creates a scalar with one rule for GraphQL variables and literals, query strings and JSON bodies. */
export function scalar<T>({
  name,
  description,
  jsonSchema,
  specifiedBy,
  typescript,
  parse,
  fromText,
  components,
}: ScalarOptions<T>): GraphQLScalarType<T, unknown> {
  return new GraphQLScalarType<T, unknown>({
    name,
    description,
    specifiedByURL: specifiedBy,
    serialize: (value) => value,
    parseValue: parse,
    // A literal that holds variables is parsed once they have their values: validation has none, and takes null for a valid value.
    parseLiteral: (node: ValueNode, variables) =>
      !variables && holdsVariable(node) ? (null as T) : parse(valueFromASTUntyped(node, variables)),
    extensions: { jsonSchema, fromText, typescript, components },
  });
}

/** Whether a value of a document is a variable or holds one. */
export function holdsVariable(node: ValueNode): boolean {
  let isFound = false;
  visit(node, {
    Variable: () => {
      isFound = true;
      return BREAK;
    },
  });
  return isFound;
}

/** Throws the error of an invalid scalar. It is not a GraphQLError, to which graphql-js would not add the position in the document. */
export const fail = (message: string): never => {
  throw new TypeError(message);
};

/** Returns the number for a text of digits; any other text unchanged, which the scalar then rejects. */
export const integerFromText = (text: string): unknown => (/^\d{1,15}$/.test(text) ? Number(text) : text);
/** Returns the boolean for `true` and `false`; any other text unchanged, which the scalar then rejects. */
export const parseBoolean = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);

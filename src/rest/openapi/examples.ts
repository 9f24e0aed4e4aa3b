import {
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isUnionType,
} from 'graphql';
import type { JsonSchema } from '../../../schema/scalar.ts';
import { VALUES } from './example-values.ts';
import type { Constants } from './schemas.ts';

const BUILT_IN: Record<string, unknown> = { Boolean: true, Float: 1.5, ID: '1', Int: 1, String: 'text' };

/** Types whose own example would be the same for every field. */
const SAYS_LITTLE = new Set(['Float', 'Int', 'String', 'Timestamp', 'RangeStart', 'RangeEnd']);

interface Field {
  name: string;
  type: GraphQLType;
}

/** Examples of GraphQL types. Their values are valid against the schemas of the document; a test holds that. */
export class Examples {
  readonly #constants: Constants;
  /** Types that an example is being made of: one that holds itself is left out the second time. */
  readonly #within: string[] = [];

  constructor(constants: Constants) {
    this.#constants = constants;
  }

  /** @param owner name of the type or operation whose field or argument it is. */
  ofField(owner: string, field: Field): unknown {
    const own = `${owner}.${field.name}`;
    if (Object.hasOwn(VALUES, own)) return VALUES[own];
    const named = getNamedType(field.type);
    if (SAYS_LITTLE.has(named.name) && Object.hasOwn(VALUES, field.name)) return VALUES[field.name];
    return this.of(field.type);
  }

  of(type: GraphQLType): unknown {
    if (isNonNullType(type)) return this.of(type.ofType);
    if (isListType(type)) return this.#isWithin(type.ofType) ? [] : [this.of(type.ofType)];
    if (isScalarType(type)) return exampleOfScalar(type.extensions.jsonSchema, type.name);
    if (isEnumType(type)) return type.getValues()[0]!.name;
    if (isUnionType(type)) return this.of(type.getTypes()[0]!);
    if (isObjectType(type) || isInputObjectType(type)) {
      return this.fields(type.name, Object.values(type.getFields() as Record<string, Field>), isInputObjectType(type));
    }
    return null;
  }

  fields(owner: string, fields: readonly Field[], input: boolean): Record<string, unknown> {
    this.#within.push(owner);
    const constant = this.#constants.get(owner);
    const entries = fields
      .filter((field) => isNonNullType(field.type) || !this.#isWithin(field.type))
      .map(
        (field) => [field.name, field.name === constant?.field ? constant.value : this.ofField(owner, field)] as const,
      )
      .filter(([, value]) => !(input && value === null));
    this.#within.pop();
    return Object.fromEntries(entries);
  }

  #isWithin(type: GraphQLType): boolean {
    return this.#within.includes(getNamedType(type).name);
  }
}

/** Whether the example of this field is the one that stands for any text. */
export const isFallback = (example: unknown) => example === BUILT_IN.String;

function exampleOfScalar(schema: unknown, name: string): unknown {
  const { examples, type } = (schema ?? {}) as JsonSchema & { examples?: unknown[] };
  return examples?.[0] ?? (type === 'object' ? {} : BUILT_IN[name]);
}

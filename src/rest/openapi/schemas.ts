import {
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLScalarType,
  type GraphQLSchema,
  type GraphQLType,
  type GraphQLUnionType,
  getNamedType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredInputField,
  isScalarType,
  isSpecifiedScalarType,
  isUnionType,
} from 'graphql';
import { boundsOf, isNotNull } from '../../../schema/input-rules.ts';
import type { JsonSchema } from '../../../schema/scalar.ts';

const BUILT_IN: Record<string, JsonSchema> = {
  Boolean: { type: 'boolean' },
  Float: { type: 'number' },
  ID: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  String: { type: 'string' },
};

/** Field of an object, or argument. */
interface Described {
  type: GraphQLType;
  description?: string | null;
  deprecationReason?: string | null;
  defaultValue?: unknown;
}

type ComponentType = GraphQLEnumType | GraphQLInputObjectType | GraphQLObjectType | GraphQLUnionType;

/** What tells the members of a union apart: `DefectUser` has the `type` `USER`. */
export type Constants = ReadonlyMap<string, { field: string; value: string }>;

/** JSON Schemas of GraphQL types. Scalars are written out in place; every other type is a component. */
export class Schemas {
  readonly #constants: Constants;
  readonly #components = new Map<string, JsonSchema>();

  constructor(constants: Constants) {
    this.#constants = constants;
  }

  /** Schema of a value that is always there, whatever GraphQL says of null. */
  present(type: GraphQLType): JsonSchema {
    if (isNonNullType(type)) return this.present(type.ofType);
    if (isListType(type)) return { type: 'array', items: this.of(type.ofType) };
    if (isScalarType(type)) return schemaOfScalar(type);
    return this.#reference(type as ComponentType);
  }

  of(type: GraphQLType): JsonSchema {
    return isNonNullType(type) ? this.present(type) : nullable(this.present(type));
  }

  /** An object that is no GraphQL type of its own, such as a body made of arguments. */
  add(name: string, schema: JsonSchema): JsonSchema {
    this.#components.set(name, schema);
    return referenceTo(name);
  }

  /** Body or nested object of an input. Unknown fields are ignored, unless the type is strict. */
  inputObject(fields: readonly GraphQLInputField[]): JsonSchema {
    const required = fields.filter(isRequiredInputField).map(({ name }) => name);
    return {
      type: 'object',
      properties: Object.fromEntries(
        fields.map((field) => [field.name, this.described(field, this.#inputSchema(field))]),
      ),
      ...(required.length > 0 && { required }),
    };
  }

  #inputSchema(field: GraphQLInputField): JsonSchema {
    const schema = isNotNull(field) ? this.present(field.type) : this.of(field.type);
    return { ...schema, ...boundsOf(field) };
  }

  /** The schema with what its field or argument says of it. */
  described(field: Described, schema: JsonSchema): JsonSchema {
    const named = getNamedType(field.type);
    const description = field.description ?? (isListType(field.type) ? undefined : typeDescription(named));
    return {
      ...(description && { description }),
      ...schema,
      ...(field.defaultValue !== undefined && { default: field.defaultValue }),
      ...(field.deprecationReason && { deprecated: true }),
    };
  }

  components(): Record<string, JsonSchema> {
    return Object.fromEntries(this.#components);
  }

  #reference(type: ComponentType): JsonSchema {
    const own = type.extensions.openapi as Record<string, JsonSchema> | undefined;
    if (own) return this.#own(own);
    if (!this.#components.has(type.name)) {
      // Kept first, for types that hold themselves.
      this.#components.set(type.name, {});
      const description = type.description ? { description: type.description } : {};
      this.#components.set(type.name, { ...description, ...this.#component(type) });
    }
    return referenceTo(type.name);
  }

  /** The components that a type brings along, the first of which is its own. */
  #own(components: Record<string, JsonSchema>): JsonSchema {
    for (const [name, schema] of Object.entries(components)) this.#components.set(name, schema);
    return referenceTo(Object.keys(components)[0]!);
  }

  #component(type: ComponentType): JsonSchema {
    if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
    if (isUnionType(type)) return this.#union(type);
    if (isObjectType(type)) return this.#object(type);
    const schema = this.inputObject(Object.values(type.getFields()));
    return type.extensions.strict ? { ...schema, additionalProperties: false } : schema;
  }

  #object(type: GraphQLObjectType): JsonSchema {
    const fields = Object.values(type.getFields());
    const constant = this.#constants.get(type.name);
    const properties = fields.map((field) => {
      if (field.name === constant?.field)
        return [field.name, this.described(field, { type: 'string', const: constant.value })];
      const schema = field.extensions.omittedWhenNull ? this.present(field.type) : this.of(field.type);
      return [field.name, this.described(field, schema)];
    });
    const required = fields.filter((field) => !field.extensions.omittedWhenNull).map(({ name }) => name);
    return { type: 'object', properties: Object.fromEntries(properties), required };
  }

  #union(type: GraphQLUnionType): JsonSchema {
    const members = type.getTypes();
    const oneOf = members.map((member) => this.#reference(member));
    const constants = members.map((member) => this.#constants.get(member.name));
    if (!constants.every((constant) => constant !== undefined)) return { oneOf };
    const mapping = members.map((member, index) => [constants[index]!.value, referenceTo(member.name).$ref]);
    return { oneOf, discriminator: { propertyName: constants[0]!.field, mapping: Object.fromEntries(mapping) } };
  }
}

export const referenceTo = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

function schemaOfScalar(type: GraphQLScalarType): JsonSchema {
  const schema = isSpecifiedScalarType(type) ? BUILT_IN[type.name] : (type.extensions.jsonSchema as JsonSchema);
  if (!schema) throw new Error(`The scalar ${type.name} has no JSON Schema.`);
  return { ...schema };
}

/** What a type of the service says of itself. */
const typeDescription = (type: GraphQLNamedType) => (isSpecifiedScalarType(type) ? undefined : type.description);

function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const values = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, 'null'], ...values };
}

/** Asks the resolver of each union which member each value of its enum fields belongs to. */
export async function unionConstants(schema: GraphQLSchema): Promise<Constants> {
  const constants = new Map<string, { field: string; value: string }>();
  for (const union of Object.values(schema.getTypeMap()).filter(isUnionType)) {
    for (const field of Object.values(union.getTypes()[0]!.getFields())) {
      const type = getNamedType(field.type);
      for (const { name, value } of isEnumType(type) ? type.getValues() : []) {
        const member = await union.resolveType?.({ [field.name]: value }, {}, {} as never, union);
        if (member) constants.set(member, { field: field.name, value: name });
      }
    }
  }
  return constants;
}

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
import { getListBounds, isNotNull } from '../../../schema/input-rules.ts';
import type { JsonSchema } from '../../../schema/scalar.ts';

/** Returns the schema of an object with required and optional properties, in this order. */
export const toObjectSchema = (
  description: string | null,
  required: Record<string, JsonSchema>,
  optional: Record<string, JsonSchema> = {},
): JsonSchema => ({
  type: 'object',
  ...(description && { description }),
  properties: { ...required, ...optional },
  required: Object.keys(required),
});

const BUILT_IN: Record<string, JsonSchema> = {
  Boolean: { type: 'boolean' },
  Float: { type: 'number' },
  ID: { type: 'string' },
  Int: { type: 'integer', format: 'int32' },
  String: { type: 'string' },
};

/** Field of an object, or argument. */
interface DescribedElement {
  type: GraphQLType;
  description?: string | null;
  deprecationReason?: string | null;
  defaultValue?: unknown;
  extensions?: { default?: unknown };
}

type ComponentType = GraphQLEnumType | GraphQLInputObjectType | GraphQLObjectType | GraphQLUnionType;

/** The field and value that distinguish a member of a union, by the member's name: `DefectUser` has the `type` `USER`. */
type Discriminators = ReadonlyMap<string, { field: string; value: string }>;

/** JSON Schemas of GraphQL types. Scalars are inline; every other type is a component. */
export class Schemas {
  readonly #discriminators: Discriminators;
  readonly #components = new Map<string, JsonSchema>();

  constructor(discriminators: Discriminators) {
    this.#discriminators = discriminators;
  }

  /** Returns the schema of a type without null. */
  nonNull(type: GraphQLType): JsonSchema {
    if (isNonNullType(type)) return this.nonNull(type.ofType);
    if (isListType(type)) return { type: 'array', items: this.of(type.ofType) };
    if (isScalarType(type)) return this.#scalar(type);
    return this.#reference(type as ComponentType);
  }

  /** Returns the schema of a type, with null where the type is nullable. */
  of(type: GraphQLType): JsonSchema {
    return isNonNullType(type) ? this.nonNull(type) : nullable(this.nonNull(type));
  }

  /** Adds the component of an object that is not a GraphQL type, such as a body, and returns a reference to it. */
  add(name: string, schema: JsonSchema): JsonSchema {
    this.#components.set(name, schema);
    return referToSchema(name);
  }

  /** Returns the schema of a body or of an object inside it. */
  ofInputObject(fields: readonly GraphQLInputField[]): JsonSchema {
    const required = fields.filter(isRequiredInputField).map(({ name }) => name);
    return {
      type: 'object',
      properties: Object.fromEntries(
        fields.map((field) => [field.name, this.describe(field, this.#inputSchema(field))]),
      ),
      ...(required.length > 0 && { required }),
    };
  }

  #inputSchema(field: GraphQLInputField): JsonSchema {
    const schema = isNotNull(field) ? this.nonNull(field.type) : this.of(field.type);
    return { ...schema, ...getListBounds(field) };
  }

  /** Returns the schema with the description, default and deprecation of its field or argument. */
  describe(field: DescribedElement, schema: JsonSchema): JsonSchema {
    const defaultValue = field.defaultValue ?? field.extensions?.default;
    const named = getNamedType(field.type);
    const description = field.description ?? (isListType(field.type) ? undefined : typeDescription(named));
    return {
      ...(description && { description }),
      ...schema,
      ...(defaultValue !== undefined && { default: defaultValue }),
      ...(field.deprecationReason && { deprecated: true }),
    };
  }

  /** Returns all components by name. */
  components(): Record<string, JsonSchema> {
    return Object.fromEntries(this.#components);
  }

  #reference(type: ComponentType): JsonSchema {
    if (!this.#components.has(type.name)) {
      // Set before its fields are visited, for recursive types.
      this.#components.set(type.name, {});
      const description = type.description ? { description: type.description } : {};
      this.#components.set(type.name, { ...description, ...this.#component(type) });
    }
    return referToSchema(type.name);
  }

  #scalar(type: GraphQLScalarType): JsonSchema {
    const components = type.extensions.components as Record<string, JsonSchema> | undefined;
    if (!components) return getScalarSchema(type);
    for (const [name, schema] of Object.entries(components)) this.#components.set(name, schema);
    return referToSchema(Object.keys(components)[0]!);
  }

  #component(type: ComponentType): JsonSchema {
    if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
    if (isUnionType(type)) return this.#union(type);
    if (isObjectType(type)) return this.#object(type);
    return this.ofInputObject(Object.values(type.getFields()));
  }

  #object(type: GraphQLObjectType): JsonSchema {
    const fields = Object.values(type.getFields());
    const discriminator = this.#discriminators.get(type.name);
    const properties = fields.map((field) => {
      if (field.name === discriminator?.field)
        return [field.name, this.describe(field, { type: 'string', const: discriminator.value })];
      const schema = field.extensions.omittedWhenNull ? this.nonNull(field.type) : this.of(field.type);
      const added = field.extensions.extension ? { 'x-extension': true } : {};
      return [field.name, { ...this.describe(field, schema), ...added }];
    });
    const isOmitted = ({ extensions }: (typeof fields)[0]) =>
      extensions.omittedWhenNull || extensions.omittedUnlessCursor;
    const required = fields.filter((field) => !isOmitted(field)).map(({ name }) => name);
    return { type: 'object', properties: Object.fromEntries(properties), required };
  }

  #union(type: GraphQLUnionType): JsonSchema {
    const members = type.getTypes();
    const oneOf = members.map((member) => this.#reference(member));
    const discriminators = members.map((member) => this.#discriminators.get(member.name));
    if (!discriminators.every((discriminator) => discriminator !== undefined)) return { oneOf };
    const mapping = members.map((member, index) => [discriminators[index]!.value, referToSchema(member.name).$ref]);
    return { oneOf, discriminator: { propertyName: discriminators[0]!.field, mapping: Object.fromEntries(mapping) } };
  }
}

export const referToSchema = (name: string): { $ref: string } => ({ $ref: `#/components/schemas/${name}` });

export function getScalarSchema(type: GraphQLScalarType): JsonSchema {
  const schema = isSpecifiedScalarType(type) ? BUILT_IN[type.name] : (type.extensions.jsonSchema as JsonSchema);
  if (!schema) throw new Error(`The scalar ${type.name} has no JSON Schema.`);
  return { ...schema };
}

/** Returns the description of a type that the service declares. */
const typeDescription = (type: GraphQLNamedType) => (isSpecifiedScalarType(type) ? undefined : type.description);

function nullable(schema: JsonSchema): JsonSchema {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const values = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, 'null'], ...values };
}

/** Returns the discriminators of all unions, by calling the type resolver of each with every value of its enum fields. */
export async function findDiscriminators(schema: GraphQLSchema): Promise<Discriminators> {
  const discriminators = new Map<string, { field: string; value: string }>();
  for (const union of Object.values(schema.getTypeMap()).filter(isUnionType)) {
    for (const field of Object.values(union.getTypes()[0]!.getFields())) {
      const type = getNamedType(field.type);
      for (const { name, value } of isEnumType(type) ? type.getValues() : []) {
        const member = await union.resolveType?.({ [field.name]: value }, {}, {} as never, union);
        if (member) discriminators.set(member, { field: field.name, value: name });
      }
    }
  }
  return discriminators;
}

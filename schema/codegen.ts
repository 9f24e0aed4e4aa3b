import { type GraphQLScalarType, type GraphQLSchema, isScalarType, isSpecifiedScalarType } from 'graphql';
import type { JsonSchema } from './scalar.ts';

/** Returns the custom scalars of the schema, sorted by name. */
const customScalars = (schema: GraphQLSchema): GraphQLScalarType[] =>
  Object.values(schema.getTypeMap())
    .filter(isScalarType)
    .filter((type) => !isSpecifiedScalarType(type))
    .sort((a, b) => (a.name < b.name ? -1 : 1));

/** Returns the source text of `docs/graphql-codegen.ts`: the TypeScript types of the custom scalars, for GraphQL Code Generator. */
export function printScalarMap(schema: GraphQLSchema): string {
  const lines = customScalars(schema).map((scalar) => `  ${scalar.name}: ${quoted(toTypescript(scalar))},`);
  return `${HEADER}\nexport const scalars = {\n${lines.join('\n')}\n} as const;\n`;
}

const HEADER = `/*
 * TypeScript types of the schema's custom scalars, for integrators who generate a client with GraphQL Code Generator:
 * import { scalars } and put it into the \`config\` of the generated file. Each kind of identifier has a type of its own.
 * Written by \`npm run cli -- schema emit\`; do not edit.
 */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are template-literal types.`;

const quoted = (text: string) => (text.includes("'") ? JSON.stringify(text) : `'${text}'`);

/** Returns the TypeScript type of a scalar: its declared one, or one derived from its JSON Schema. Throws where there is neither. */
function toTypescript({ name, extensions }: GraphQLScalarType): string {
  const { jsonSchema, typescript } = extensions as { jsonSchema: JsonSchema; typescript?: string };
  const type = typescript ?? toSchemaType(jsonSchema);
  if (type === null) throw new Error(`Give the scalar ${name} a \`typescript\` type.`);
  return type;
}

/** JSON Schema pattern of an identifier, which begins with the prefix of its kind. */
const IDENTIFIER = /^\^([a-z]+)_\[/;

function toSchemaType({ type, pattern, const: constant, anyOf, properties, ...more }: JsonSchema): string | null {
  if (Array.isArray(anyOf)) return anyOf.map(toSchemaType).join(' | ');
  if (constant !== undefined) return JSON.stringify(constant);
  if (type === 'integer' || type === 'number') return 'number';
  if (type === 'boolean') return 'boolean';
  if (type === 'string') {
    const prefix = IDENTIFIER.exec(String(pattern))?.[1];
    return prefix ? `\`${prefix}_\${string}\`` : 'string';
  }
  if (type !== 'object') return null;
  if (!properties) return more.additionalProperties === true ? 'Record<string, unknown>' : null;
  const fields = Object.entries(properties).map(([name, field]) => `${JSON.stringify(name)}: ${toSchemaType(field)}`);
  return `{ ${fields.join('; ')} }`;
}

import { type GraphQLSchema, getNamedType, isInputObjectType, isObjectType, isScalarType } from 'graphql';
import type { JsonSchema } from '../../../schema/scalar.ts';

/** Names of the contract in paths into the input. */
export interface InputNames {
  names: Set<string>;
  /** Names that the contract defines within free-form objects, by the name of the object. */
  freeForm: Map<string, Set<string>>;
}

/** Names that no argument has. */
const OTHER_NAMES =
  `body query request variables operationName extensions file files Content-Length Content-Type Host Idempotency-Key
  X-Service-Api-Version X-Service-Builder-Id X-Service-Region-Id`.split(/\s+/);

/** Returns the names of all arguments and input fields, and of the properties that JSON Schemas of scalars have. */
export function collectInputNames(schema: GraphQLSchema): InputNames {
  const found: InputNames = { names: new Set(OTHER_NAMES), freeForm: new Map() };
  for (const type of Object.values(schema.getTypeMap())) {
    const fields = isInputObjectType(type)
      ? Object.values(type.getFields())
      : isObjectType(type)
        ? Object.values(type.getFields()).flatMap((field) => field.args)
        : [];
    for (const { name, type: fieldType } of fields)
      addName(name, (getNamedType(fieldType).extensions.jsonSchema ?? {}) as JsonSchema, found);
    if (isScalarType(type)) addProperties([type.extensions.jsonSchema, type.extensions.components], found);
  }
  return found;
}

function addName(name: string, { additionalProperties, properties = {} }: JsonSchema, found: InputNames): void {
  found.names.add(name);
  if (additionalProperties !== true) return;
  const others = found.freeForm.get(name) ?? [];
  found.freeForm.set(name, new Set([...others, ...Object.keys(properties as object)]));
}

function addProperties(value: unknown, found: InputNames): void {
  if (typeof value !== 'object' || value === null) return;
  const { properties } = value as { properties?: Record<string, JsonSchema> };
  for (const [name, property] of Object.entries(properties ?? {})) addName(name, property, found);
  for (const inner of Object.values(value)) addProperties(inner, found);
}

/** Returns a path into the input whose segments from the first one that the client has named on are `*`. */
export function maskFieldName(path: string, { names, freeForm }: InputNames): string {
  let allowed: Set<string> = names;
  let kept = '';
  for (const segment of path.split('.')) {
    const [, name = '', indexes] = /^([^[\]]*)((?:\[\d{0,6}\])*)$/.exec(segment) ?? [];
    // Errors of a value of a list in a query name its index alone.
    const isKnown = indexes !== undefined && (allowed.has(name) || (name === '' && kept === ''));
    if (!isKnown) return `${kept}*`;
    kept += `${segment}.`;
    allowed = freeForm.get(name) ?? names;
  }
  return kept.slice(0, -1);
}

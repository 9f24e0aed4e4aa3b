import { isObject } from '../../../schema/is-object.ts';
import { INEXACT_NUMBER, isExactNumber } from '../../../schema/json-problems.ts';
import { countCodePoints, hasLength, isCleanText, UNCLEAN } from '../../../schema/text.ts';
import type { FieldError } from '../../shared/errors.ts';
import { formatRange, LIMITS } from './limits.ts';
import { pageSchemas } from './page-schema.ts';
import { isAbsent, ValidationErrors } from './validation-errors.ts';

/*
 * Validation of Page documents. `compile` makes functions of the JSON Schemas that the OpenAPI document has (PRP-22 to PRP-30), and
 * `RULES` has what these cannot express. Ajv is not used, because it does not stop at the hundredth error.
 */

interface ValidationState {
  errors: ValidationErrors;
  /** Number of blocks so far, in the lists that are not too long by themselves. */
  blocks: number;
}

/** Adds the errors of a value that is present. @param level nesting level of the value; that of the request is 1. */
type Validate = (value: unknown, path: string, level: number, state: ValidationState) => void;

/**
 * Returns the errors of a Page document with its nested pages, at most `MAX_FIELD_ERRORS`. Accepts any value and takes linear time
 * (PRP-22 to PRP-32).
 *
 * @param path of the document. Default: none, so that the names of fields begin with a dot.
 */
export function validatePageDocument(value: unknown, path = ''): FieldError[] {
  return ValidationErrors.collect((errors) => {
    const state: ValidationState = { errors, blocks: 0 };
    validateNamed('PageDocument', value, path, PAGE_LEVEL, state);
    if (state.blocks > LIMITS.blocks.max) {
      const message = `must have ${formatRange(LIMITS.blocks)} in the whole tree, nested pages included; it has ${state.blocks}`;
      errors.add(`${path}.blocks`, message);
    }
  });
}

const PAGE_LEVEL = 2;
/** From a page to one within it are three levels: the list of blocks, the block and the page. */
const MAX_PAGE_LEVEL = PAGE_LEVEL + 3 * (LIMITS.levels.max - 1);

/** Rules beside the schemas, by the name of the schema. One that returns false ends the validation of the value. */
const RULES: Record<string, ((...args: Parameters<Validate>) => boolean) | undefined> = {
  PageDocument: (_value, path, level, { errors }) => {
    if (level <= MAX_PAGE_LEVEL) return true;
    errors.add(path, `pages nest at most ${LIMITS.levels.max} levels, the root included`);
    return false;
  },
  RichText: (value, path, _level, { errors }) => {
    let points = 0;
    for (const run of Array.isArray(value) ? value : []) {
      if (typeof run?.text === 'string') points += countCodePoints(run.text);
    }
    if (points <= LIMITS.richText.max) return true;
    errors.add(path, `must have ${formatRange(LIMITS.richText)} in all its runs together`);
    return false;
  },
};

function validateNamed(name: string, value: unknown, path: string, level: number, state: ValidationState): void {
  const rule = RULES[name];
  if (!rule || rule(value, path, level, state)) validators[name]!(value, path, level, state);
}

const toName = (ref: unknown) => String(ref).slice('#/components/schemas/'.length);

/** The keywords that the schemas have. */
interface PageSchema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  pattern?: string;
  examples?: string[];
  properties?: Record<string, PageSchema>;
  required?: string[];
  additionalProperties?: boolean;
  /** Further properties, by the value of one of them. */
  oneOf?: PageSchema[];
  /** A schema or null, which is absent. */
  anyOf?: PageSchema[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
  items?: PageSchema;
  [limit: `${'min' | 'max'}${string}`]: number;
}

/** Returns the validation by a schema, of the keywords that the schemas have. */
function compile(schema: PageSchema): Validate {
  if (schema.$ref) {
    const referred = toName(schema.$ref);
    return (value, path, level, state) => validateNamed(referred, value, path, level, state);
  }
  if (schema.anyOf) return compile(schema.anyOf[0]!);
  if (schema.discriminator) return compileUnion(schema.discriminator);
  const [type] = [schema.type].flat();
  if (type === 'object') return compileObject(schema);
  if (type === 'array') return compileList(schema);
  const findProblem = compileScalar(schema, type);
  return (value, path, _level, { errors }) => {
    const problem = findProblem(value);
    if (problem) errors.add(path, problem);
  };
}

/** Returns a function that says what is wrong with a text, number, boolean or null; null for nothing. */
function compileScalar(schema: PageSchema, type: unknown): (value: unknown) => string | null {
  const { minimum, maximum, minLength: min = 0, maxLength: max, pattern, examples } = schema;
  const values = schema.enum ?? ('const' in schema ? [schema.const] : null);
  const accept = (isValid: (value: unknown) => boolean, message: string) => (value: unknown) =>
    isValid(value) ? null : message;
  if (values) return accept((value) => values.includes(value), `must be one of ${values.join(', ')}`);
  if (type === 'null') return () => 'must be null or left out';
  if (type === 'boolean') return accept((value) => typeof value === 'boolean', 'must be true or false');
  if (type === 'number') return accept((value) => typeof value === 'number' && isExactNumber(value), INEXACT_NUMBER);
  if (type === 'integer') {
    const isWithin = (value: unknown) =>
      Number.isInteger(value) && Number(value) >= minimum! && Number(value) <= maximum!;
    return accept(isWithin, `must be an integer from ${minimum} to ${maximum}`);
  }
  const expression = pattern && new RegExp(pattern);
  const message = expression
    ? `must be an id such as ${examples![0]}`
    : `must have ${formatRange({ min, max: max!, unit: 'characters' })}`;
  return (value) => {
    if (typeof value !== 'string') return 'must be a string';
    if (!isCleanText(value)) return UNCLEAN;
    return (expression ? expression.test(value) : hasLength(value, min, max!)) ? null : message;
  };
}

function compileUnion({ propertyName, mapping }: NonNullable<PageSchema['discriminator']>): Validate {
  const names = new Map(Object.entries(mapping).map(([value, ref]) => [value as unknown, toName(ref)]));
  return (value, path, level, state) => {
    const object = state.errors.requireFreeObject(value, path);
    if (!object) return;
    const name = names.get(object[propertyName]);
    if (name) validateNamed(name, value, path, level, state);
    else state.errors.add(`${path}.${propertyName}`, `must be one of ${[...names.keys()].join(', ')}`);
  };
}

function compileObject({ oneOf = [], ...schema }: PageSchema): Validate {
  const { properties = {}, required = [], additionalProperties: isOpen } = schema;
  const names = new Set(Object.keys(properties));
  const members = [...names].map((member) => {
    return { member, isRequired: required.includes(member), validate: compile(properties[member]!) };
  });
  const variants = oneOf.map((variant) => {
    const [constant, { const: value }] = Object.entries(variant.properties!).find(([, each]) => 'const' in each)!;
    const merged = { ...properties, ...variant.properties };
    const all = { ...schema, properties: merged, required: [...required, ...variant.required!] };
    return { constant, value, validate: compileObject(all) };
  });
  return (value, path, level, state) => {
    const { errors } = state;
    const variant = isObject(value) && variants.find((each) => value[each.constant] === each.value);
    if (variant) return variant.validate(value, path, level, state);
    const object = isOpen ? errors.requireFreeObject(value, path) : errors.requireObject(value, path, names);
    if (!object) return;
    for (const { member, isRequired, validate } of members) {
      const field = `${path}.${member}`;
      if (!isAbsent(object[member])) validate(object[member], field, level + 1, state);
      else if (isRequired) errors.add(field, 'is required');
    }
    if (!isOpen) return;
    const others = Object.entries(object).filter(([member]) => !names.has(member));
    errors.requireStorable(Object.fromEntries(others), path, level);
  };
}

/** Property that is unique in a list, by the name of the schema of its items. */
const UNIQUE: Record<string, string> = { Block: 'sourceBlockId', ListItem: 'id', ChecklistItem: 'id' };

function compileList({ items, minItems = 0, maxItems }: PageSchema): Validate {
  const validate = compile(items!);
  const name = toName(items!.$ref);
  const key = UNIQUE[name];
  return (value, path, level, state) => {
    const { errors } = state;
    if (!Array.isArray(value)) return errors.add(path, 'must be an array');
    const isWithin = value.length >= minItems && value.length <= maxItems!;
    if (!isWithin) errors.add(path, `must have ${formatRange({ min: minItems, max: maxItems!, unit: 'items' })}`);
    if (isWithin && name === 'Block') state.blocks += value.length;
    for (let at = 0; at < value.length; at++) validate(value[at], `${path}[${at}]`, level + 1, state);
    if (key) requireUnique(value, key, path, errors);
  };
}

/** Requires that no two objects of the list have the same text. */
function requireUnique(list: readonly unknown[], key: string, path: string, errors: ValidationErrors): void {
  const indexes = new Map<string, number>();
  for (const [at, item] of list.entries()) {
    const id = isObject(item) ? item[key] : null;
    if (typeof id !== 'string') continue;
    const first = indexes.get(id);
    if (first === undefined) indexes.set(id, at);
    else errors.add(`${path}[${at}].${key}`, `must be unique; ${path}[${first}] has it too`);
  }
}

const validators = Object.fromEntries(
  Object.entries(pageSchemas).map(([name, schema]) => [name, compile(schema as PageSchema)]),
);

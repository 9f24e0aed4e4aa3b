import { isObject } from '../../../schema/is-object.ts';
import { DOCUMENT_TYPE, MAX_BODY_BYTES } from '../../domain/photo-reports/limits.ts';
import { preparePage } from '../../domain/photo-reports/prepare-page.ts';
import type { CheckedPage } from '../../domain/photo-reports/prepared-page.ts';
import { type FieldError, invalidField, MAX_FIELD_ERRORS, ValidationError } from '../../shared/errors.ts';
import { decodeJson, parseJson } from './json.ts';
import type { LargeBodyForm } from './large-body-form.ts';

/**
 * Maximum values and field names of a large body. The densest content of a photo report is a run without text and marks, which has 6 in
 * 23 bytes: `{"text":"","marks":[]},`. No report without free-form fields has more.
 */
export const MAX_LARGE_TOKENS = Math.ceil((MAX_BODY_BYTES * 6) / 23);

/** Maximum characters of JSON of every value that is not a Page document. */
const MAX_OTHER_VALUE = 65_536;
/** Maximum characters of a GraphQL document in a large body. */
const MAX_QUERY = 1024 * 1024;

/** Matches the declarations of variables in a GraphQL document, with the names of their types; that of a list is empty. */
const VARIABLES = /\$(\w+)\s*:\s*(\w*)/g;

export interface BodyTask {
  form: LargeBodyForm;
  body: Uint8Array;
}

/** Result for the main thread: the errors of the body, or its small values and checked Page documents. */
export type BodyResult = ({ errors: FieldError[] } | { value: unknown; pages: [name: string, page: CheckedPage][] }) & {
  /** Errors of texts and names anywhere in the body. */
  textErrors?: FieldError[];
};

type Json = Record<string, unknown>;

/** Parses a large body and checks its Page documents. Runs in a worker thread, because some bodies take seconds. */
export function processBody({ form, body }: BodyTask): BodyResult {
  try {
    const text = decodeJson(body);
    // Frees the bytes: only the text is needed from here, and the values need most of the memory.
    (body.buffer as ArrayBuffer).transfer(0);
    let textErrors: FieldError[] | undefined;
    const value = parseJson(text, MAX_LARGE_TOKENS, (errors) => {
      textErrors = errors;
    });
    if (!isObject(value)) throw invalidField('body', 'must be an object');
    const result =
      form.kind === 'graphql' ? checkGraphqlRequest(value) : checkFields(value, form.fields, form.documents);
    return { ...result, textErrors };
  } catch (error) {
    if (error instanceof ValidationError) return { errors: error.errors };
    throw error;
  }
}

function checkFields(body: Json, fields: readonly string[], documents: readonly string[]): BodyResult {
  const value: Json = {};
  const pages: [string, CheckedPage][] = [];
  const errors: FieldError[] = [];
  for (const name of fields) {
    if (!Object.hasOwn(body, name)) continue;
    const member = body[name];
    if (documents.includes(name) && member !== null) pages.push([name, preparePage(member)]);
    else if (isSmall(member)) value[name] = member;
    else errors.push({ fieldName: name, message: `must have at most ${MAX_OTHER_VALUE} characters of JSON` });
  }
  if (errors.length === 0) return { value, pages };
  const pageErrors = pages.flatMap(([name, page]) =>
    'errors' in page ? page.errors.map(({ fieldName, message }) => ({ fieldName: name + fieldName, message })) : [],
  );
  return { errors: [...errors, ...pageErrors].slice(0, MAX_FIELD_ERRORS) };
}

function checkGraphqlRequest(body: Json): BodyResult {
  const { query, operationName, variables } = body;
  if (!isSmall(operationName ?? null)) throw invalidField('operationName', 'is too long');
  if (typeof query === 'string' && query.length > MAX_QUERY) {
    throw invalidField('query', `must have at most ${MAX_QUERY} characters; pass large values as variables`);
  }
  const variableTypes = new Map(
    [...String(query).matchAll(VARIABLES)].map(([, name, type]) => [name!, type!] as const),
  );
  const documents = [...variableTypes].filter(([, type]) => type === DOCUMENT_TYPE).map(([name]) => name);
  // Large extensions are dropped; the server uses none of them.
  const names = ['query', 'operationName', ...(isSmall(body.extensions ?? null) ? ['extensions'] : [])];
  const others = names.filter((name) => name in body);
  const request = Object.fromEntries(others.map((name) => [name, body[name]]));
  if (!isObject(variables)) return { value: request, pages: [] };
  const result = checkFields(variables, [...variableTypes.keys()], documents);
  return 'errors' in result ? result : { value: { ...request, variables: result.value }, pages: result.pages };
}

const isSmall = (value: unknown) => JSON.stringify(value).length <= MAX_OTHER_VALUE;

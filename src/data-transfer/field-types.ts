import { ID_PREFIXES, type IdKind, idPattern } from '../../schema/ids.ts';
import { formatFieldPath } from '../../schema/input.ts';
import { isObject } from '../../schema/is-object.ts';
import { findJsonProblems, INEXACT_NUMBER, isExactNumber } from '../../schema/json-problems.ts';
import { toInstant } from '../../schema/scalars.ts';
import { isCleanText, UNCLEAN } from '../../schema/text.ts';
import { parseDeepLinkScheme, parseEmailAddress, toStoredEmail } from '../domain/access/access-values.ts';
import { InvalidInputError } from '../domain/access/invalid-input-error.ts';

/** Reports one problem of a row; `path` is the field and the path within it: `integrations[0].type`. */
type ReportProblem = (path: string, message: string) => void;

/** Validation of a value in a row. */
export interface FieldType {
  /** Name in the reference of the format. */
  readonly label: string;
  /** Returns the value in the form that is stored. The result is only valid if no problem was reported. */
  read(value: unknown, path: string, report: ReportProblem): unknown;
}

/** In characters. Several ids must fit into one index entry. */
const MAX_ID_LENGTH = 200;
/** In characters: twice a body of the API, because the text may name erased people. Lists of longer texts would take a worker's memory. */
const MAX_TEXT_LENGTH = 2_097_152;

/** Creates a type that is valid if one condition holds. */
const createSimpleType = (label: string, message: string, holds: (value: unknown) => boolean): FieldType => ({
  label,
  read(value, path, report) {
    if (!holds(value)) report(path, message);
    return value;
  },
});

/** Creates a type of text that meets a condition. */
export const createTextType = (label: string, message: string, holds: (value: string) => boolean): FieldType => ({
  label,
  read(value, path, report) {
    if (typeof value !== 'string') report(path, 'must be a string');
    else if (value.length > MAX_TEXT_LENGTH) report(path, `must not be longer than ${MAX_TEXT_LENGTH} characters`);
    else if (!isCleanText(value)) report(path, UNCLEAN);
    else if (!holds(value)) report(path, message);
    return value;
  },
});

export const text = createTextType('text', '', () => true);
/** Returns a condition: whether commands accept a text, which is in lower case. */
const isAcceptedBy = (parse: (text: string) => string) => (text: string) => {
  try {
    return parse(text) !== '' && text === text.toLowerCase();
  } catch (error) {
    if (error instanceof InvalidInputError) return false;
    throw error;
  }
};

const emailText = createTextType(
  'e-mail address in lower case',
  'must be an e-mail address in lower case',
  isAcceptedBy(parseEmailAddress),
);

/** A person's address, which is returned as it is stored. */
export const emailAddress: FieldType = {
  ...emailText,
  read(value, path, report) {
    const read = emailText.read(value, path, report);
    return typeof read === 'string' ? toStoredEmail(read) : read;
  },
};
export const deepLinkScheme = createTextType(
  'scheme',
  "must be an application's own scheme such as siteapp",
  isAcceptedBy(parseDeepLinkScheme),
);
export const mediaType = createTextType('media type', 'must be a media type such as image/jpeg', (value) =>
  /^[a-z]+\/[a-z0-9][a-z0-9.+-]{0,99}$/.test(value),
);
export const digits = createTextType('digits', 'must be digits', (value) => /^\d+$/.test(value));
export const sha256 = createTextType('SHA-256 in hexadecimal', 'must be 64 hexadecimal digits', (value) =>
  /^[0-9a-f]{64}$/.test(value),
);
export const boolean = createSimpleType('boolean', 'must be true or false', (value) => typeof value === 'boolean');
export const number = createSimpleType(
  'number',
  INEXACT_NUMBER,
  (value) => typeof value === 'number' && isExactNumber(value),
);
export const integer = createSimpleType(
  'integer',
  'must be an integer from -2147483648 to 2147483647',
  (value) => Number.isInteger(value) && value === ((value as number) | 0),
);

export const httpsUrl = createTextType('HTTPS address', 'must be an address that begins with https://', (value) => {
  const url = URL.parse(value);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
});

export function id(kind: IdKind): FieldType {
  const prefix = ID_PREFIXES[kind];
  const pattern = idPattern(kind);
  const message = `must be an id like ${prefix}_a1b2c3, of at most ${MAX_ID_LENGTH} characters`;
  return createTextType(`id \`${prefix}_\``, message, (value) => value.length <= MAX_ID_LENGTH && pattern.test(value));
}

export function createEnumType(values: readonly string[]): FieldType {
  const valueSet = new Set<unknown>(values);
  return createSimpleType(
    values.map((value) => `\`${value}\``).join(', '),
    `must be one of ${values.join(', ')}`,
    (value) => valueSet.has(value),
  );
}

export const timestamp: FieldType = {
  label: 'timestamp',
  read(value, path, report) {
    const instant = typeof value === 'string' ? toInstant(value) : null;
    if (instant !== null) return instant;
    report(path, 'must be an ISO 8601 date-time with a time zone, such as 2026-03-02T07:30:00.000Z');
    return value;
  },
};

export const list = (of: FieldType): FieldType => ({
  label: `list of ${of.label}`,
  read(value, path, report) {
    if (Array.isArray(value)) return value.map((item, index) => of.read(item, `${path}[${index}]`, report));
    report(path, 'must be a list');
    return value;
  },
});

interface Member {
  fieldType: FieldType;
  nullable: boolean;
}

/** Creates the type of an object with exactly these fields; nullable ones may be absent. */
export function object(members: Record<string, FieldType | Member>): FieldType {
  const fields = new Map(
    Object.entries(members).map(([name, of]) => [name, 'fieldType' in of ? of : { fieldType: of, nullable: false }]),
  );
  const read: FieldType['read'] = (value, path, report) => {
    if (!isObject(value)) {
      report(path, 'must be an object');
      return value;
    }
    for (const name of Object.keys(value)) if (!fields.has(name)) report(`${path}.${name}`, 'is not a known field');
    const result: Record<string, unknown> = {};
    for (const [name, { fieldType, nullable }] of fields) {
      const member = value[name];
      if (member == null) {
        if (!nullable) report(`${path}.${name}`, 'is required');
        else if (member === null) result[name] = null;
      } else result[name] = fieldType.read(member, `${path}.${name}`, report);
    }
    return result;
  };
  const label = [...fields].map(
    ([name, { fieldType, nullable }]) => `${name}${nullable ? '?' : ''}: ${fieldType.label}`,
  );
  return { label: `{ ${label.join(', ')} }`, read };
}

/** Creates the type of values that are valid for at least one of the types. */
export function createUnionType(types: FieldType[]): FieldType {
  const labels = [...new Set(types.map(({ label }) => label))];
  return {
    label: labels.join(' or '),
    read(value, path, report) {
      for (const fieldType of types) {
        let rejected = false;
        const result = fieldType.read(value, path, () => {
          rejected = true;
        });
        if (!rejected) return result;
      }
      return types[0]!.read(value, path, report);
    },
  };
}

/** Any JSON object that PostgreSQL stores unchanged. */
export const jsonObject: FieldType = {
  label: 'object',
  read(value, path, report) {
    const problems = isObject(value)
      ? findJsonProblems(value, { level: 1 })
      : [{ path: [], message: 'must be an object' }];
    for (const problem of problems) report(formatFieldPath(path, problem.path), problem.message);
    return value;
  },
};

import { isCleanText, toInstant, UNCLEAN } from '../../schema/scalars.ts';
import { ID_PREFIXES, type IdKind, idPattern } from '../shared/ids.ts';

/** Takes one problem of a row; `path` is the field, and the way into it: `integrations[0].type`. */
export type Refuse = (path: string, message: string) => void;

/** What a value of a row must look like. */
export interface Shape {
  /** Name in the format's reference page. */
  readonly label: string;
  /** Gives the value in the one spelling that is stored; of no use when something was refused. */
  read(value: unknown, path: string, refuse: Refuse): unknown;
}

/** Free-form JSON may nest this deep, as in a request's body (LIM-10). */
const MAX_DEPTH = 64;
/** Several ids must fit into one entry of an index. */
const MAX_ID_LENGTH = 200;

/** A shape that one condition decides. */
function simple(label: string, message: string, holds: (value: unknown) => boolean): Shape {
  return {
    label,
    read(value, path, refuse) {
      if (!holds(value)) refuse(path, message);
      return value;
    },
  };
}

/** Text that meets a rule beyond being text. */
export function textWhere(label: string, message: string, holds: (value: string) => boolean): Shape {
  return {
    label,
    read(value, path, refuse) {
      if (typeof value !== 'string') refuse(path, 'must be a string');
      else if (!isCleanText(value)) refuse(path, UNCLEAN);
      else if (!holds(value)) refuse(path, message);
      return value;
    },
  };
}

export const text = textWhere('text', '', () => true);
export const boolean = simple('boolean', 'must be true or false', (value) => typeof value === 'boolean');
export const number = simple('number', 'must be a finite number', (value) => Number.isFinite(value));
export const integer = simple(
  'integer',
  'must be an integer from -2147483648 to 2147483647',
  (value) => Number.isInteger(value) && value === ((value as number) | 0),
);

export const httpsUrl = textWhere('HTTPS address', 'must be an address that begins with https://', (value) => {
  const url = URL.parse(value);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
});

export function id(kind: IdKind): Shape {
  const prefix = ID_PREFIXES[kind];
  const pattern = idPattern(kind);
  const message = `must be an id like ${prefix}_a1b2c3, of at most ${MAX_ID_LENGTH} characters`;
  return textWhere(`id \`${prefix}_\``, message, (value) => value.length <= MAX_ID_LENGTH && pattern.test(value));
}

export function oneOf(values: readonly string[]): Shape {
  const known = new Set<unknown>(values);
  return simple(values.map((value) => `\`${value}\``).join(', '), `must be one of ${values.join(', ')}`, (value) =>
    known.has(value),
  );
}

/** Spelled as it is stored, on a day that every month has: nothing is left to work out, which saves half of the reading. */
const STORED_SPELLING = /^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

export const timestamp: Shape = {
  label: 'timestamp',
  read(value, path, refuse) {
    if (typeof value === 'string' && STORED_SPELLING.test(value)) return value;
    const instant = typeof value === 'string' ? toInstant(value) : null;
    if (instant !== null) return instant;
    refuse(path, 'must be an ISO 8601 date-time with a time zone, such as 2026-03-02T07:30:00.000Z');
    return value;
  },
};

export function list(of: Shape): Shape {
  return {
    label: `list of ${of.label}`,
    read(value, path, refuse) {
      if (Array.isArray(value)) return value.map((item, index) => of.read(item, `${path}[${index}]`, refuse));
      refuse(path, 'must be a list');
      return value;
    },
  };
}

export interface Member {
  shape: Shape;
  nullable: boolean;
}

/** An object of exactly these fields; nullable ones may be absent. */
export function object(members: Record<string, Shape | Member>): Shape {
  const fields = new Map(
    Object.entries(members).map(([name, of]) => [name, 'shape' in of ? of : { shape: of, nullable: false }]),
  );
  const read: Shape['read'] = (value, path, refuse) => {
    if (!isObject(value)) {
      refuse(path, 'must be an object');
      return value;
    }
    for (const name of Object.keys(value)) if (!fields.has(name)) refuse(`${path}.${name}`, 'is not a known field');
    const result: Record<string, unknown> = {};
    for (const [name, { shape, nullable }] of fields) {
      const given = value[name];
      if (given == null) {
        if (!nullable) refuse(`${path}.${name}`, 'is required');
        else if (given === null) result[name] = null;
      } else result[name] = shape.read(given, `${path}.${name}`, refuse);
    }
    return result;
  };
  const label = [...fields].map(([name, { shape, nullable }]) => `${name}${nullable ? '?' : ''}: ${shape.label}`);
  return { label: `{ ${label.join(', ')} }`, read };
}

/** A value that at least one of the shapes takes. */
export function anyOf(shapes: Shape[]): Shape {
  const labels = [...new Set(shapes.map(({ label }) => label))];
  return {
    label: labels.join(' or '),
    read(value, path, refuse) {
      for (const shape of shapes) {
        let refused = false;
        const result = shape.read(value, path, () => {
          refused = true;
        });
        if (!refused) return result;
      }
      return shapes[0]!.read(value, path, refuse);
    },
  };
}

/** Any JSON object that PostgreSQL can hold as it is. */
export const freeObject: Shape = {
  label: 'object',
  read(value, path, refuse) {
    if (!isObject(value)) refuse(path, 'must be an object');
    else requireStorable(value, path, refuse, MAX_DEPTH);
    return value;
  },
};

function requireStorable(value: unknown, path: string, refuse: Refuse, depth: number): void {
  if (typeof value === 'string') {
    if (!isCleanText(value)) refuse(path, UNCLEAN);
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(path, 'must be a finite number');
  } else if (value !== null && typeof value === 'object' && depth === 0) {
    refuse(path, `must not nest deeper than ${MAX_DEPTH} levels`);
  } else if (value !== null && typeof value === 'object') {
    for (const [name, member] of Object.entries(value)) {
      if (!isCleanText(name)) refuse(path, UNCLEAN);
      requireStorable(member, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`, refuse, depth - 1);
    }
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

import type { FastifyRequest } from 'fastify';
import { invalid } from './http-error.ts';

type Parser<T> = (text: string) => T | undefined;

const parseInteger =
  (minimum: number, maximum: number): Parser<number> =>
  (text) => {
    const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= minimum && value <= maximum ? value : undefined;
  };

const parsePattern =
  (pattern: RegExp): Parser<string> =>
  (text) =>
    pattern.test(text) ? text : undefined;

const STATUSES = ['APPROVED_1', 'APPROVED_2', 'REJECTED', 'WAITING_REVIEW'];

const PARAMETERS = {
  projectId: {
    parse: parsePattern(/^proj_[a-z0-9]+$/),
    message: 'must be an identifier like proj_a0mkq3v8t2n4c7x1p9r5w6yzb',
  },
  folderId: {
    parse: parsePattern(/^fold_[a-z0-9]+$/),
    message: 'must be an identifier like fold_a0mkq3v8t2n4c7x1p9r5w6yzb',
  },
  status: {
    parse: (text: string) => (STATUSES.includes(text) ? text : undefined),
    message: `must be one of ${STATUSES.join(', ')}`,
  },
  offset: { parse: parseInteger(0, 2147483647), message: 'must be an integer from 0 to 2147483647' },
  limit: { parse: parseInteger(1, 25), message: 'must be an integer from 1 to 25' },
  includeBuilderCompany: {
    parse: (text: string) => (text === 'true' ? true : text === 'false' ? false : undefined),
    message: 'must be true or false',
  },
} satisfies Record<string, { parse: Parser<unknown>; message: string }>;

type Parameters = {
  [Name in keyof typeof PARAMETERS]?: Exclude<ReturnType<(typeof PARAMETERS)[Name]['parse']>, undefined>;
};

/** Returns the query parameters of these names. Throws 400 with an error for each invalid one. */
export function parseQueryParameters(request: FastifyRequest, names: (keyof Parameters)[]): Parameters {
  const query = request.query as Record<string, string | string[] | undefined>;
  const values: Record<string, unknown> = {};
  const errors: { fieldName: string; message: string }[] = [];
  for (const name of names) {
    const text = query[name];
    if (text === undefined) continue;
    if (Array.isArray(text)) {
      errors.push({ fieldName: name, message: 'must be given once' });
      continue;
    }
    values[name] = PARAMETERS[name].parse(text);
    if (values[name] === undefined) errors.push({ fieldName: name, message: PARAMETERS[name].message });
  }
  if (errors.length > 0) throw invalid(errors);
  return values;
}

/** Returns the response body of a list. */
export function createPage(data: object[], totalCount: number, offset: number, limit: number) {
  return { data, meta: { totalCount, totalPages: Math.ceil(totalCount / limit), offset, limit } };
}

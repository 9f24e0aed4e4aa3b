import { useSearchParams } from 'react-router';

/** Parameters that every page keeps in the URL. */
const SCOPE = ['region', 'builder'];

/** Parameters of the page of a list. */
const POSITION = ['page', 'after', 'before'];

/** Parameters of what is opened beside a list, which stays at its position. */
const OPENED = new Set([
  'visit',
  'worker',
  'timesheet',
  'induction',
  'insurance',
  'conflict',
  'pending',
  'photo',
  'report',
  'person',
  'entry',
  'client',
  'connection',
  'endpoint',
  'add',
]);

/** Forms of parameters that pages calculate with: any other value of an address that somebody has edited counts as none. */
const DAY = '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])';
const [RANGE, ENDS] = [`any|${DAY}`, `open|past|any|\\d{1,4}|${DAY}\\.\\.${DAY}`];
const FORMS: Record<string, string> = { date: DAY, from: RANGE, until: RANGE, ends: ENDS };

type Changes = Record<string, string | null | undefined>;

/** Returns the parameters after changes. A changed filter shows the first page again. */
export function changeParameters(parameters: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(parameters);
  if (!Object.keys(changes).every((name) => OPENED.has(name))) for (const name of POSITION) next.delete(name);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next;
}

/** Returns a parameter; undefined without a value, or with one of another form. */
export const readParameter = (parameters: URLSearchParams, name: string): string | undefined =>
  new RegExp(`^(?:${FORMS[name] ?? '.+'})$`, 's').exec(parameters.get(name) ?? '')?.[0];

/** Order of a list: what it is sorted by, and the direction. */
export interface Order {
  sort: string;
  order: 'asc' | 'desc';
}

interface Filters {
  /** Value of a parameter of the URL; undefined without one. */
  get(name: string): string | undefined;
  /** Changes parameters as a step that the back button undoes, unless it replaces the one before; an empty value removes one. The first page of lists is shown again. */
  set(changes: Changes, options?: { replace?: boolean }): void;
}

/** Returns the filters, which are parameters of the URL. */
export function useFilters(): Filters {
  const [parameters, setParameters] = useSearchParams();
  return {
    get: (name) => readParameter(parameters, name),
    set: (changes, options) => setParameters(changeParameters(parameters, changes), options),
  };
}

/** Returns a function that creates URLs of the same page with other filters. */
export function useFilteredAddress(): (changes: Changes) => string {
  const [parameters] = useSearchParams();
  return (changes) => `?${changeParameters(parameters, changes)}`;
}

/** Returns the order of a list: that of the URL, else the given one. */
export function useOrder(sort: string, order: Order['order']): Order {
  const filters = useFilters();
  return { sort: filters.get('sort') ?? sort, order: (filters.get('order') as Order['order']) ?? order };
}

/** Returns a function that creates URLs of pages of the same region and builder. */
export function useAddress(): (page: string, filters?: Changes) => string {
  const [parameters] = useSearchParams();
  return (page, filters = {}) => {
    const scope = Object.fromEntries(SCOPE.map((name) => [name, parameters.get(name)]));
    const query = changeParameters(new URLSearchParams(), { ...scope, ...filters }).toString();
    return query ? `${page}?${query}` : page;
  };
}

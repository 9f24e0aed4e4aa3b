import { useSearchParams } from 'react-router';

/** Parameters that stay in the address from page to page. */
const SCOPE = ['region', 'builder'];

interface Filters {
  /** Value of a parameter of the address; undefined without one. */
  get(name: string): string | undefined;
  /** Changes parameters as a step that the back button undoes, unless it replaces the one before; an empty value removes one. The first page of lists is shown again. */
  set(changes: Record<string, string | null | undefined>, options?: { replace?: boolean }): void;
}

/** Returns the filters, which the address holds. */
export function useFilters(): Filters {
  const [parameters, setParameters] = useSearchParams();
  return {
    get: (name) => parameters.get(name) || undefined,
    set: (changes, options) => {
      const next = new URLSearchParams(parameters);
      if (!('page' in changes)) next.delete('page');
      for (const [name, value] of Object.entries(changes)) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      setParameters(next, options);
    },
  };
}

/** Returns a function for addresses of pages of the same region and builder. */
export function useAddress(): (page: string, filters?: Record<string, string | null | undefined>) => string {
  const [parameters] = useSearchParams();
  return (page, filters = {}) => {
    const kept = new URLSearchParams();
    for (const name of SCOPE) {
      const value = parameters.get(name);
      if (value) kept.set(name, value);
    }
    for (const [name, value] of Object.entries(filters)) if (value) kept.set(name, value);
    const query = kept.toString();
    return query ? `${page}?${query}` : page;
  };
}

import type { TypedDocumentNode } from 'urql';
import { type Order, useFilters, useOrder } from '../shared/filters.ts';
import { useRequest } from './use-request.ts';

interface ListVariables {
  sort?: string | null;
  order?: Order['order'] | null;
  offset?: number | null;
}

/** Returns how many rows of a list are before the page in the URL. */
export const usePageOffset = (pageSize = 25): number => (Number(useFilters().get('page') ?? 1) - 1) * pageSize;

/**
 * Reads the page of the URL of a list, which follows changes of its records.
 *
 * @param sort Value and direction of the order, where the URL has none.
 */
export function useList<Data, Variables extends ListVariables>(
  query: TypedDocumentNode<Data, Variables>,
  variables: Omit<Variables, keyof ListVariables>,
  sort: NonNullable<Variables['sort']>,
  direction: Order['order'],
) {
  const order = useOrder(sort, direction);
  const page = { ...variables, ...order, offset: usePageOffset() } as Variables & ListVariables;
  return { request: useRequest(query, page, { live: true }), order, list: { query, variables } };
}

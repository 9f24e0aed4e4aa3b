import graphqlPage from '../../../../docs/graphql.md?raw';

interface Example {
  title: string;
  /** As documented, such as `at most 66,950 of 500,000`. */
  cost: string;
  query: string;
}

/** Returns the dashboards' queries of the documentation, whose costs its tests check. */
function parseExamples(page: string): Example[] {
  const section = page.match(/<!-- dashboards:begin -->([\s\S]*?)<!-- dashboards:end -->/)?.[1] ?? '';
  const matches = section.matchAll(/\*\*(.+?)\*\*[\s\S]*?Cost:\s+(.+?)\.\s+```graphql\n([\s\S]*?)```/g);
  return [...matches].map(([, title, cost, query]) => ({ title: title!, cost: cost!, query: query! }));
}

export const EXAMPLES = parseExamples(graphqlPage);

import graphqlPage from '../../../../docs/graphql.md?raw';

const INTRODUCTION = `# Ctrl-Enter runs the query at the cursor with the variables below; the button offers all of them.

# The first projects of the builder.
query Projects($builderId: BuilderId!) {
  projects(builderId: $builderId, limit: 10) {
    meta { totalCount }
    data { id name status }
  }
}
`;

/** Returns the introduction and the dashboards' queries of the documentation, whose costs its tests check. */
function createExamples(page: string): string {
  const section = page.match(/<!-- dashboards:begin -->([\s\S]*?)<!-- dashboards:end -->/)?.[1] ?? '';
  const matches = section.matchAll(/\*\*(.+?)\*\*[\s\S]*?Cost:\s+(.+?)\.\s+```graphql\n([\s\S]*?)```/g);
  return [INTRODUCTION, ...[...matches].map(([, title, cost, query]) => `# ${title}. Cost: ${cost}.\n${query}`)].join(
    '\n',
  );
}

/** One document with all examples. */
export const EXAMPLES = createExamples(graphqlPage);

/** Returns values of the examples' variables: the chosen builder, and the 30 days from today on. */
export function createVariables(): string {
  const today = new Date().setUTCHours(0, 0, 0, 0);
  const builderId = new URLSearchParams(location.search).get('builder') ?? 'buil_';
  const [from, until] = [today, today + 30 * 86_400_000].map((at) => new Date(at).toISOString());
  return JSON.stringify({ builderId, from, until }, null, 2);
}

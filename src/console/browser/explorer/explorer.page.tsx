import './explorer.css';
import { useEffect, useRef, useState } from 'react';
import { PageHead } from '../components/page.tsx';
import { formatCount } from '../shared/format.ts';
import { useScope } from '../shared/scope.tsx';
import { currentRegion, setConnection } from '../shared/session.ts';
import { useTheme } from '../shared/theme.ts';
import { createVariables, EXAMPLES } from './examples.ts';
import { send, showGraphiql } from './graphiql.ts';

/** Maximum cost of a query (LIM-15). */
const MAX_COST = 500_000;

/** Key of the schema in the storage of the tab: each page of GraphiQL is loaded anew, and would read it again. */
const SCHEMA_KEY = 'console.schema';

/** Key of GraphiQL's tabs of the visit before. */
const TABS_KEY = 'graphiql:tabState';

/** Key of the theme of GraphiQL's visit before, which its editors have whatever theme is forced. */
const THEME_KEY = 'graphiql:theme';

/** Whether the document has GraphiQL, which can neither be removed nor take another theme or region. */
let isShown = false;

/** GraphiQL with the permissions of the person who is signed in. */
export default function ExplorerPage() {
  const theme = useTheme();
  const { id } = useScope().me;
  const element = useRef<HTMLDivElement>(null);
  const [cost, setCost] = useState<number | null>(null);
  useEffect(() => {
    if (isShown) return location.reload();
    isShown = true;
    // The queries of another user may name people.
    if (localStorage.getItem('graphiql:user') !== id)
      for (const key of Object.keys(localStorage)) if (key.startsWith('graphiql:')) localStorage.removeItem(key);
    localStorage.setItem('graphiql:user', id);
    localStorage.setItem(THEME_KEY, theme);
    void showGraphiql(element.current!, {
      fetcher: createFetcher(setCost),
      forcedTheme: theme,
      isHeadersEditorEnabled: false,
      defaultEditorToolsVisibility: 'variables',
      ...findTab(),
    });
  }, [theme, id]);
  return (
    <>
      <PageHead
        title="Explorer"
        description={
          <span role="status">
            {cost === null
              ? 'Queries over the schema of the console, with your permissions'
              : `The last query cost ${formatCount(cost)} of ${formatCount(MAX_COST)}`}
          </span>
        }
      >
        <a className="button" href="?examples">
          Open the examples
        </a>
      </PageHead>
      <div className="explorer panel" ref={element} />
    </>
  );
}

/** Returns the examples, or the tab that was shown last: GraphiQL would open an empty one. */
function findTab(): { initialQuery: string; initialVariables: string } {
  const stored = localStorage.getItem(TABS_KEY);
  if (!stored || new URLSearchParams(location.search).has('examples'))
    return { initialQuery: EXAMPLES, initialVariables: createVariables() };
  const { tabs, activeTabIndex } = JSON.parse(stored);
  const { query, variables } = tabs[activeTabIndex];
  return { initialQuery: query ?? '', initialVariables: variables ?? '' };
}

/** Returns a function that sends requests, and reports the cost of each but the introspection. */
function createFetcher(onCost: (cost: number | null) => void) {
  // GraphiQL's button for it reads the schema again.
  let stored = sessionStorage.getItem(SCHEMA_KEY);
  return async (parameters: unknown) => {
    const isIntrospection = (parameters as { operationName?: string }).operationName === 'IntrospectionQuery';
    if (isIntrospection && stored) {
      const schema = JSON.parse(stored);
      stored = null;
      return schema;
    }
    const headers = { 'X-Console-CSRF': '1', 'X-Service-Region-Id': currentRegion() };
    const response = await send('/console/graphql', headers, parameters);
    if (response.status === 401) setConnection('ended');
    const result = await response.json();
    if (!isIntrospection) onCost(result.extensions?.cost ?? null);
    else if (result.data) sessionStorage.setItem(SCHEMA_KEY, JSON.stringify(result));
    return result;
  };
}

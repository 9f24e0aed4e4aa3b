import { useRef, useState } from 'react';
import { currentRegion, signInAddress } from '../shared/session.ts';
import { toggleTheme, useTheme } from '../shared/theme.ts';
import { EXAMPLES } from './examples.ts';
import { showGraphiql } from './graphiql.ts';

/** Maximum cost of a query (LIM-15). */
const MAX_COST = 500_000;

const region = currentRegion();

/** GraphiQL with the permissions of the person who is signed in. */
export function Explorer() {
  const theme = useTheme();
  const [cost, setCost] = useState<number | null>(null);
  const example = new URLSearchParams(location.search).get('example') ?? '';
  const chosen = EXAMPLES[Number(example || -1)];
  const showsGraphiql = useRef(false);
  const show = (element: HTMLElement | null) => {
    if (element === null || showsGraphiql.current) return;
    showsGraphiql.current = true;
    void showGraphiql(element, {
      fetcher: createFetcher(setCost),
      forcedTheme: theme,
      isHeadersEditorEnabled: false,
      defaultEditorToolsVisibility: 'variables',
      initialQuery: chosen?.query,
      initialVariables: chosen && findVariables(chosen.query),
      defaultQuery: '',
      onEditQuery: () => {},
      title: 'GraphiQL',
    });
  };
  return (
    <div className="explorer">
      <header>
        <a href={`/console/today?region=${region}`}>Console</a>
        <h1>Explorer</h1>
        <form>
          <input type="hidden" name="region" value={region} />
          <label>
            <span className="visually-hidden">Example</span>
            <select name="example" defaultValue={example}>
              <option value="">Examples…</option>
              {EXAMPLES.map(({ title }, index) => (
                <option key={title} value={index}>
                  {title}
                </option>
              ))}
            </select>
          </label>
          <button type="submit" className="plain">
            Open
          </button>
        </form>
        {chosen && <span className="soft small">Cost: {chosen.cost}</span>}
        <span className="cost" role="status">
          {cost !== null && `This request cost ${cost.toLocaleString('en')} of ${MAX_COST.toLocaleString('en')}`}
        </span>
        <button type="button" className="plain" onClick={changeTheme}>
          {theme === 'dark' ? 'Light theme' : 'Dark theme'}
        </button>
      </header>
      <main ref={show} />
    </div>
  );
}

/** GraphiQL takes its theme when it is shown, and keeps queries over a reload. */
function changeTheme(): void {
  toggleTheme();
  location.reload();
}

/** Returns a function that sends requests, and reports the cost of each response. */
const createFetcher = (onCost: (cost: number | null) => void) => async (parameters: unknown) => {
  const response = await fetch('/console/graphql', {
    method: 'POST',
    credentials: 'same-origin',
    headers: {
      'Content-Type': 'application/json',
      'X-Console-CSRF': '1',
      'X-Service-Region-Id': region,
    },
    body: JSON.stringify(parameters),
  });
  if (response.status === 401) location.assign(signInAddress(location.pathname + location.search));
  const result = await response.json();
  onCost(result.extensions?.cost ?? null);
  return result;
};

/** Values of a query's variables, for the person to complete. */
function findVariables(query: string): string {
  const now = Date.now();
  const builderId = localStorage.getItem(`console.builder.${region}`) ?? 'buil_';
  const values: Record<string, unknown> = { builderId };
  if (query.includes('$from')) values.from = new Date(now).toISOString();
  if (query.includes('$until')) values.until = new Date(now + 30 * 86_400_000).toISOString();
  return JSON.stringify(values, null, 2);
}

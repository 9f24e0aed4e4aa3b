/** Pages of `src/console/browser/layout/pages.ts`, and the explorer. */
const PAGES =
  'today|attendance|timesheets|workers|inductions|insurances|photos|reports|integrations(?:/[a-z0-9_]+)?|people|audit|explorer';

const ROUTE = new RegExp(`^/console(?:/(?:${PAGES}))?$`);

/** Any origin: only path and query of what it resolves are used. */
const ORIGIN = 'http://console.invalid';

/**
 * Returns the page of the console to which a sign-in returns, with its query; `/console` for a text that names none. The text is resolved
 * as browsers do, with `..`, `%2e` and backslashes, before it is compared with the routes. CON-1.
 */
export function toReturnPath(text: unknown): URL {
  const fallback = new URL('/console', ORIGIN);
  if (typeof text !== 'string' || !URL.canParse(text, ORIGIN)) return fallback;
  const url = new URL(text, ORIGIN);
  return url.origin === ORIGIN && ROUTE.test(url.pathname) ? url : fallback;
}

import { useSyncExternalStore } from 'react';

/** Whether requests succeed: `ended` needs a sign-in, `offline` waits for the network. */
type Connection = 'online' | 'offline' | 'ended';

let connection: Connection = 'online';
/** Whether a request has succeeded since the page was loaded, so that there may be input to keep. */
let used = false;
const listeners = new Set<() => void>();

/** Sets the state of the connection. A page that was never signed in goes to the sign-in page instead. */
export function setConnection(next: Connection): void {
  if (next === 'online') used = true;
  if (next === 'ended' && !used) location.assign(signInAddress(location.pathname + location.search));
  if (connection === next || (next === 'ended' && !used)) return;
  connection = next;
  for (const listener of listeners) listener();
}

/** URL of the sign-in page, which returns to a path of the console. */
export const signInAddress = (path: string): string => `/console/sign-in?${new URLSearchParams({ return: path })}`;

/** Region of the requests: of the URL, else the one used last. */
export const currentRegion = (): string =>
  new URLSearchParams(location.search).get('region') ?? localStorage.getItem('console.region') ?? 'au1';

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const isSessionEnded = (): boolean => connection === 'ended';

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => connection);

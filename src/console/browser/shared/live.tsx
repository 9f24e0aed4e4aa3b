import { createContext, type ReactNode, useContext, useEffect, useState } from 'react';
import { useUncachedClient } from '../graphql/client.ts';
import { ChangesDocument } from '../graphql/generated.ts';
import { ChangeTracker } from './change-tracker.ts';
import { isSessionEnded } from './session.ts';

/** Milliseconds between the polls of a visible tab. With the delay of the event log, pages are current within two seconds. */
const INTERVAL_MS = 1000;
/** Milliseconds until the poll after one that failed. */
const RETRY_MS = 5000;

const Live = createContext(0);

/** Returns the number of polls that found a change, after each of which pages read their records again. */
export const useLive = (): number => useContext(Live);

/** Polls the event log once per tab while the tab is visible, for all queries of the page. */
export function LiveProvider({ builderId, children }: { builderId: string | undefined; children: ReactNode }) {
  const client = useUncachedClient();
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const tracker = new ChangeTracker(builderId);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stopped = false;
    const schedule = (delay: number) => {
      clearTimeout(timer);
      if (!stopped && document.visibilityState === 'visible') timer = setTimeout(poll, delay);
    };
    const poll = async () => {
      // Without a session each poll would count against the limit of sign-ins.
      if (isSessionEnded()) return schedule(INTERVAL_MS);
      const { data } = await client.query(ChangesDocument, { after: tracker.cursor }).toPromise();
      if (stopped) return;
      if (data && tracker.accept(data.changes, performance.now())) setVersion((current) => current + 1);
      schedule(data ? INTERVAL_MS : RETRY_MS);
    };
    const onVisibility = () => {
      if (document.visibilityState === 'visible') poll();
      else clearTimeout(timer);
    };
    document.addEventListener('visibilitychange', onVisibility);
    window.addEventListener('online', onVisibility);
    poll();
    return () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onVisibility);
      window.removeEventListener('online', onVisibility);
    };
  }, [client, builderId]);
  return <Live value={version}>{children}</Live>;
}

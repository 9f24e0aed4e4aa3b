import { useEffect, useRef, useState } from 'react';
import { useUncachedClient } from '../../graphql/client.ts';
import { LaterVisitsDocument, type LaterVisitsQueryVariables } from '../../graphql/generated.ts';
import { useLive } from '../../shared/live.tsx';
import { SerialReader } from '../../shared/serial-reader.ts';
import type { Visit } from './board-rows.ts';

/** Visits that the query of the board returns. */
const FIRST = 100;
const PAGE_SIZE = 25;

type Day = Omit<LaterVisitsQueryVariables, 'offset'>;

interface LaterVisits {
  visits: readonly Visit[];
  state: 'reading' | 'failed' | 'done';
}

/** Returns the visits that were read so far, and those of the earlier read that follow them. */
const merge = (read: readonly Visit[], earlier: readonly Visit[]): Visit[] => {
  const ids = new Set(read.map(({ id }) => id));
  return [...read, ...earlier.filter(({ id }) => !ids.has(id))];
};

/** Returns the visits of a day after the first hundred, as many as are read: a page at a time. */
export function useLaterVisits(day: Day, total: number): LaterVisits & { retry: () => void } {
  const client = useUncachedClient();
  const poll = useLive();
  const latestPoll = useRef(poll);
  latestPoll.current = poll;
  const key = JSON.stringify(day);
  const latestTotal = useRef(total);
  latestTotal.current = total;
  const reader = useRef<SerialReader>(undefined);
  const [later, setLater] = useState<LaterVisits & { key: string }>({ key, visits: [], state: 'reading' });
  useEffect(() => {
    const variables = JSON.parse(key) as Day;
    reader.current = new SerialReader(async (own) => {
      const visits: Visit[] = [];
      const show = (state: LaterVisits['state']) =>
        setLater((shown) => {
          const earlier = shown.key === key && state !== 'done' ? shown.visits : [];
          return { key, visits: merge(visits, earlier), state };
        });
      show('reading');
      for (let offset = FIRST; offset < latestTotal.current; offset += PAGE_SIZE) {
        const context = { poll: latestPoll.current };
        const { data } = await client.query(LaterVisitsDocument, { ...variables, offset }, context).toPromise();
        if (own.stopped) return;
        if (!data) return show('failed');
        visits.push(...data.project.attendance.data);
        show('reading');
      }
      show('done');
    });
    return () => reader.current?.stop();
  }, [client, key]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the visits are read again when records of the builder changed.
  useEffect(() => {
    if (total > FIRST) reader.current?.request();
  }, [client, key, total, poll.version]);
  const shown: LaterVisits = later.key === key && total > FIRST ? later : { visits: [], state: 'reading' };
  return { ...shown, retry: () => reader.current?.request() };
}

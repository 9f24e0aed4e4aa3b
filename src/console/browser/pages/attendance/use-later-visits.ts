import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { type BoardQueryVariables, LaterVisitsDocument } from '../../graphql/generated.ts';
import { useLiveVersion } from '../../shared/live.tsx';
import type { Visit } from './board-rows.ts';

/** Visits that the query of the board returns. */
const FIRST = 100;
const PAGE_SIZE = 25;

/** Returns the visits of a day after the first hundred, which are read page by page. */
export function useLaterVisits(board: BoardQueryVariables, total: number): readonly Visit[] {
  const client = useClient();
  const version = useLiveVersion();
  const key = JSON.stringify(board);
  const [read, setRead] = useState<{ key: string; visits: Visit[] }>({ key, visits: [] });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the visits are read again when records of the builder changed.
  useEffect(() => {
    let stopped = false;
    const readAll = async () => {
      const visits: Visit[] = [];
      for (let offset = FIRST; offset < total; offset += PAGE_SIZE) {
        const variables = { ...(JSON.parse(key) as BoardQueryVariables), offset };
        const { data } = await client
          .query(LaterVisitsDocument, variables, { requestPolicy: 'network-only' })
          .toPromise();
        if (stopped || !data) return;
        visits.push(...data.project.attendance.data);
      }
      setRead({ key, visits });
    };
    readAll();
    return () => {
      stopped = true;
    };
  }, [client, key, total, version]);
  return read.key === key ? read.visits : [];
}

import { createContext, type ReactNode, useContext } from 'react';
import { Loaded } from '../components/states.tsx';
import { ScopeDocument, type ScopeQuery } from '../graphql/generated.ts';
import { useRequest } from '../graphql/use-request.ts';
import { useFilters } from './filters.ts';
import { currentRegion } from './session.ts';

export type ScopeBuilder = ScopeQuery['builders']['data'][number];

export interface Scope {
  me: ScopeQuery['me'];
  region: string;
  builders: readonly ScopeBuilder[];
  /** The builder of the address, else the one that was used last; undefined in a region without builders. */
  builder: ScopeBuilder | undefined;
  /** Time zone of dates and times: of the builder. */
  timeZone: string;
  /** Whether the role allows an action, such as `visit.closed`. */
  can(action: string): boolean;
}

const Context = createContext<Scope | null>(null);

/** Returns who is signed in, and whose records are shown. */
export function useScope(): Scope {
  const scope = useContext(Context);
  if (!scope) throw new Error('There is no ScopeProvider.');
  return scope;
}

/** Returns the builder whose records a page shows. Pages of builders are shown only when there is one. */
export const useBuilder = (): ScopeBuilder => useScope().builder!;

export function ScopeProvider({ children }: { children: ReactNode }) {
  const request = useRequest(ScopeDocument, {});
  const filters = useFilters();
  return (
    <Loaded request={request} lines={12}>
      {({ me, builders: { data: builders } }) => {
        const region = currentRegion();
        const wanted = filters.get('builder') ?? localStorage.getItem(`console.builder.${region}`);
        const builder = builders.find(({ id }) => id === wanted) ?? builders[0];
        const timeZone = builder?.timeZone ?? 'UTC';
        const can = (action: string) => me.actions.includes(action);
        return <Context value={{ me, region, builders, builder, timeZone, can }}>{children}</Context>;
      }}
    </Loaded>
  );
}

import { createContext, type ReactNode, useContext } from 'react';
import { Loaded, Loading } from '../components/states.tsx';
import { type BuilderChoiceFragment, ScopeDocument, type ScopeQuery, type StaffRole } from '../graphql/generated.ts';
import { useRequest } from '../graphql/use-request.ts';
import { useFilters } from './filters.ts';
import { currentRegion } from './session.ts';

export interface Scope {
  me: ScopeQuery['me'];
  region: string;
  /** The builder of the address, else the one that was used last; undefined in a region without builders. */
  builder: BuilderChoiceFragment | undefined;
  /** Time zone of dates and times: of the builder. */
  timeZone: string;
  /** Whether the role allows an action, such as `visit.closed`. */
  can(action: string): boolean;
  /** The lowest role that allows an action; null when the own one does. */
  roleFor(action: string): StaffRole | null;
}

const Context = createContext<Scope | null>(null);

/** Returns who is signed in, and whose records are shown. */
export function useScope(): Scope {
  const scope = useContext(Context);
  if (!scope) throw new Error('There is no ScopeProvider.');
  return scope;
}

/** Returns the builder whose records a page shows. Pages of builders are shown only when there is one. */
export const useBuilder = (): BuilderChoiceFragment => useScope().builder!;

const BUILDER_ID = /^buil_[a-z0-9]+$/;

export function ScopeProvider({ children }: { children: ReactNode }) {
  const filters = useFilters();
  const region = currentRegion();
  const wanted = filters.get('builder') ?? localStorage.getItem(`console.builder.${region}`) ?? '';
  const hasBuilder = BUILDER_ID.test(wanted);
  const request = useRequest(ScopeDocument, { builderId: hasBuilder ? wanted : null, hasBuilder });
  return (
    <Loaded request={request} lines={12}>
      {({ me, chosen, first }) => {
        const found = chosen?.data.find(({ id }) => id === wanted);
        // The data may still be that of the builder before.
        if (hasBuilder && !found && request.fetching) return <Loading lines={12} />;
        const builder = found ?? first.data[0];
        const timeZone = builder?.timeZone ?? 'UTC';
        const can = (action: string) => me.actions.includes(action);
        const roleFor = (action: string) => me.otherActions.find((other) => other.action === action)?.role ?? null;
        return <Context value={{ me, region, builder, timeZone, can, roleFor }}>{children}</Context>;
      }}
    </Loaded>
  );
}

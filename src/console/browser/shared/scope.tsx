import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { Navigate, useLocation } from 'react-router';
import { Loaded, Loading } from '../components/states.tsx';
import { type BuilderChoiceFragment, ScopeDocument, type ScopeQuery, type StaffRole } from '../graphql/generated.ts';
import { useRequest } from '../graphql/use-request.ts';
import { useFilters } from './filters.ts';
import { currentRegion } from './session.ts';

export interface Scope {
  me: ScopeQuery['me'];
  region: string;
  /** The builder of the URL, else the one that was used last; undefined in a region without it. */
  builder: BuilderChoiceFragment | undefined;
  /** Whether the URL names a builder that the region does not have. */
  isUnknownBuilder: boolean;
  /** Time zone of dates and times: of the builder. */
  timeZone: string;
  /** Whether the role allows an action, such as `visit.closed`. */
  can(action: string): boolean;
  /** The lowest role that allows an action; null when the own one does. */
  roleFor(action: string): StaffRole | null;
}

const Context = createContext<Scope | null>(null);

/** Returns who is signed in, and whose records are shown. */
export const useScope = (): Scope => useContext(Context)!;

/** Returns the builder whose records a page shows. Pages of builders are shown only when there is one. */
export const useBuilder = (): BuilderChoiceFragment => useScope().builder!;

const BUILDER_ID = /^buil_[a-z0-9]+$/;

export function ScopeProvider({ children }: { children: ReactNode }) {
  const filters = useFilters();
  const { pathname, search } = useLocation();
  const region = currentRegion();
  const named = filters.get('builder');
  const builderId = named ?? localStorage.getItem(`console.builder.${region}`) ?? '';
  const hasBuilder = BUILDER_ID.test(builderId);
  const request = useRequest(ScopeDocument, { builderId: hasBuilder ? builderId : null, hasBuilder });
  const isSignedIn = request.data !== undefined;
  const shown = request.data?.chosen?.data.find(({ id }) => id === builderId)?.id;
  useEffect(() => {
    if (isSignedIn) localStorage.setItem('console.region', region);
    if (shown) localStorage.setItem(`console.builder.${region}`, shown);
  }, [isSignedIn, region, shown]);
  return (
    <Loaded request={request} lines={12}>
      {({ me, chosen, first }) => {
        const found = chosen?.data.find(({ id }) => id === builderId);
        // The data may still be that of the builder before.
        if (hasBuilder && !found && request.fetching) return <Loading lines={12} />;
        const builder = named ? found : (found ?? first.data[0]);
        const scoped = { region, builder: named ?? builder?.id };
        // A link to the page shows others the same records.
        if (filters.get('region') !== region || named !== scoped.builder) {
          const query = new URLSearchParams(search);
          for (const [name, value] of Object.entries(scoped)) if (value) query.set(name, value);
          return <Navigate to={`${pathname}?${query}`} replace />;
        }
        const timeZone = builder?.timeZone ?? 'UTC';
        const can = (action: string) => me.actions.includes(action);
        const roleFor = (action: string) => me.otherActions.find((other) => other.action === action)?.role ?? null;
        const isUnknownBuilder = named !== undefined && !builder;
        return <Context value={{ me, region, builder, isUnknownBuilder, timeZone, can, roleFor }}>{children}</Context>;
      }}
    </Loaded>
  );
}

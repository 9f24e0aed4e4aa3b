import { createContext, useContext } from 'react';
import { type Client, cacheExchange, createClient, fetchExchange, mapExchange } from 'urql';
import { setConnection } from '../shared/session.ts';
import { getCode, getStatus, isDisconnected } from './errors.ts';

/** Clients of one region. */
interface ConsoleClients {
  /** Keeps results, and reads them again after mutations. */
  cached: Client;
  /** Keeps nothing: for reads that are made once, which the cache would hold until the tab is closed. */
  uncached: Client;
}

/** Returns the clients of one region. The header that no other site can send protects the cookie of the session. */
export function createConsoleClients(region: string): ConsoleClients {
  const create = (withCache: boolean) =>
    createClient({
      url: '/console/graphql',
      preferGetMethod: false,
      requestPolicy: withCache ? 'cache-and-network' : 'network-only',
      fetchOptions: { headers: { 'X-Console-CSRF': '1', 'X-Service-Region-Id': region } },
      exchanges: [
        ...(withCache ? [cacheExchange] : []),
        mapExchange({
          onResult({ error }) {
            if (!error) return setConnection('online');
            if (getStatus(error) === 401 || getCode(error) === 'UNAUTHENTICATED') return setConnection('ended');
            if (isDisconnected(error)) return setConnection('offline');
            setConnection('online');
          },
        }),
        fetchExchange,
      ],
    });
  return { cached: create(true), uncached: create(false) };
}

export const UncachedClient = createContext<Client | null>(null);

/** Returns the client that keeps no results. */
export const useUncachedClient = (): Client => useContext(UncachedClient)!;

import { createContext, useContext } from 'react';
import {
  type Client,
  cacheExchange,
  createClient,
  fetchExchange,
  makeOperation,
  mapExchange,
  type Operation,
} from 'urql';
import { setConnection } from '../shared/session.ts';
import { getCode, getStatus, isDisconnected } from './errors.ts';

/** The poll that found that records of the builder changed. */
export interface LiveState {
  /** Grows with each such poll. */
  version: number;
  /** Cursor of the poll; null before the first. */
  cursor: string | null;
  /** Milliseconds of the monotonic clock at which it was sent. */
  polledAt: number;
}

/** Milliseconds by which a poll is later than a change of the person, so that a read that other tabs began after it has the change. */
const OWN_CHANGE_MS = 1000;

/** Clients of one region. */
interface ConsoleClients {
  /** Keeps results, and reads them again after mutations. */
  cached: Client;
  /** Keeps nothing: for reads that are made once, which the cache would hold until the tab is closed. */
  uncached: Client;
}

/** Returns the clients of one region. The header that no other site can send protects the cookie of the session. */
export function createConsoleClients(region: string): ConsoleClients {
  /** Milliseconds of the monotonic clock at which the person's last change ended. */
  let changedAt = Number.NEGATIVE_INFINITY;
  /** Adds the header with which a read after a poll shares the result of other tabs (CON-18). */
  const addCursor = (operation: Operation): Operation => {
    const { poll, fetchOptions } = operation.context as { poll?: LiveState; fetchOptions?: RequestInit };
    if (!poll?.cursor || poll.polledAt - changedAt < OWN_CHANGE_MS) return operation;
    const headers = { ...(fetchOptions?.headers as Record<string, string>), 'X-Console-Cursor': poll.cursor };
    return makeOperation(operation.kind, operation, {
      ...operation.context,
      fetchOptions: { ...fetchOptions, headers },
    });
  };
  const create = (withCache: boolean) =>
    createClient({
      url: '/console/graphql',
      preferGetMethod: false,
      requestPolicy: withCache ? 'cache-and-network' : 'network-only',
      fetchOptions: {
        credentials: 'same-origin',
        headers: { 'X-Console-CSRF': '1', 'X-Service-Region-Id': region },
      },
      exchanges: [
        ...(withCache ? [cacheExchange] : []),
        mapExchange({
          onOperation: addCursor,
          onResult({ operation, error }) {
            if (operation.kind === 'mutation') changedAt = performance.now();
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

import { type Client, cacheExchange, createClient, fetchExchange, mapExchange } from 'urql';
import { setConnection } from '../shared/session.ts';
import { codeOf, statusOf } from './errors.ts';

/** Returns the client of one region. The header that no other site can send protects the cookie of the session. */
export function createConsoleClient(region: string): Client {
  return createClient({
    url: '/console/graphql',
    preferGetMethod: false,
    requestPolicy: 'cache-and-network',
    fetchOptions: {
      credentials: 'same-origin',
      headers: { 'X-Console-CSRF': '1', 'X-Service-Region-Id': region },
    },
    exchanges: [
      cacheExchange,
      mapExchange({
        onResult({ error }) {
          if (!error) return setConnection('online');
          if (statusOf(error) === 401 || codeOf(error) === 'UNAUTHENTICATED') return setConnection('ended');
          if (error.networkError && statusOf(error) === undefined) return setConnection('offline');
          setConnection('online');
        },
      }),
      fetchExchange,
    ],
  });
}

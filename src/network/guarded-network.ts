import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https, { type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { traceHeaders } from '../shared/tracing.ts';
import { isPublicAddress } from './public-address.ts';

/** Calls back with all addresses of a host name. */
export type HostResolver = (
  hostname: string,
  options: LookupAllOptions,
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Network access of outgoing requests whose address a client has chosen. Tests replace it. */
export interface Network {
  /** Whether connections to the IP address are allowed. */
  isAllowedAddress(address: string): boolean;
  /** Resolves host names. Default: the system's name servers. */
  resolve?: HostResolver;
  /** Certificate authorities to trust instead of the system's. */
  ca?: string;
  timeoutMs?: number;
}

/** Public addresses only. */
export const internet: Network = { isAllowedAddress: isPublicAddress };

/** Milliseconds after which a query of a name server is repeated, and number of attempts. */
const DNS = { timeout: 1_500, tries: 2 };

const LOCALHOST: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Returns a resolver that queries name servers directly. The system's resolver (`dns.lookup`) blocks a thread of libuv's pool until they
 * respond, so that a few names whose server is silent would delay all others, files and passwords. It does not read `/etc/hosts`.
 *
 * @param servers by default those of the system
 */
export function createHostResolver(servers?: readonly string[]): HostResolver {
  const resolver = new Resolver(DNS);
  if (servers) resolver.setServers(servers);
  const find = async (hostname: string): Promise<LookupAddress[]> => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
    const toList = (found: PromiseSettledResult<string[]>, family: number) =>
      found.status === 'fulfilled' ? found.value.map((address) => ({ address, family })) : [];
    return [...toList(four, 4), ...toList(six, 6)];
  };
  return (hostname, _options, done) => {
    if (/^(.+\.)?localhost$/i.test(hostname)) return done(null, LOCALHOST);
    // Does not exist by definition (RFC 6761).
    if (/\.invalid$/i.test(hostname)) return done(Object.assign(new Error(hostname), { code: 'ENOTFOUND' }), []);
    find(hostname).then(
      (addresses) => done(null, addresses),
      (error) => done(error, []),
    );
  };
}

const resolveHost = createHostResolver();

/** The host name or an address of it is not allowed. */
export class AddressError extends Error {
  override name = 'AddressError';
  constructor() {
    super('is not on a public address');
  }
}

/** Throws `AddressError` for a URL whose host is an IP address that is not allowed. Such a host is not looked up. */
export function requireAllowedHost({ hostname }: URL, { isAllowedAddress }: Network): void {
  const literal = hostname.replace(/^\[|\]$/g, '');
  if (isIP(literal) && !isAllowedAddress(literal)) throw new AddressError();
}

/** Returns a lookup that rejects a name when any of its addresses is not allowed. */
function createGuardedLookup({ isAllowedAddress, resolve = resolveHost }: Network): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 0);
      const list = addresses.map(({ address, family }) => ({ address, family }));
      if (list.length === 0 || !list.every(({ address }) => isAllowedAddress(address)))
        return done(new AddressError(), '', 0);
      return options.all ? done(null, list) : done(null, list[0]!.address, list[0]!.family);
    });
  };
}

/**
 * Sends a request, and returns its response. Rejects with `AddressError` where an address of the host is not allowed; nothing has been sent
 * then.
 *
 * @param watch is called with the request before anything is sent.
 */
export function sendGuarded(
  url: URL,
  network: Network,
  options: RequestOptions,
  { body, watch }: { body?: string; watch?: (sent: ClientRequest) => void } = {},
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http;
    const guarded = { ...options, ca: network.ca, lookup: createGuardedLookup(network) };
    const sent = request(url, { ...guarded, headers: { ...options.headers, ...traceHeaders() } });
    // A name may resolve to another address at the next lookup, so the address of the connected socket is checked.
    sent.on('socket', (socket) => {
      const check = () => {
        const { remoteAddress } = socket;
        if (!remoteAddress || !network.isAllowedAddress(remoteAddress)) sent.destroy(new AddressError());
      };
      if (socket.connecting) socket.on('connect', check);
      else check();
    });
    watch?.(sent);
    sent.on('response', resolve);
    sent.on('error', reject);
    // Node emits nothing else when a server changes the protocol (101).
    sent.on('close', () => reject(new Error('closed')));
    sent.end(body);
  });
}

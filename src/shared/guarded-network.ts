import { lookup as resolveHost } from 'node:dns';
import type { ClientRequest } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/** Network access of outgoing requests whose address a client has chosen. Tests replace it. */
export interface Network {
  /** Whether connections to the IP address are allowed. */
  isAllowedAddress(address: string): boolean;
  /** Resolves host names. Default: the system's resolver. */
  resolve?: typeof resolveHost;
  /** Certificate authorities to trust instead of the system's. */
  ca?: string;
  timeoutMs?: number;
}

/** Public addresses only. */
export const internet: Network = { isAllowedAddress: isPublicAddress };

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
export function createGuardedLookup({ isAllowedAddress, resolve = resolveHost }: Network): LookupFunction {
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

/** Destroys a request whose socket is connected to an address that is not allowed. Nothing has been sent then. */
export function guardConnection(sent: ClientRequest, { isAllowedAddress }: Network): void {
  // A name may resolve to another address at the next lookup, so the address of the connected socket is checked.
  sent.on('socket', (socket) => {
    const check = () => {
      if (!socket.remoteAddress || !isAllowedAddress(socket.remoteAddress)) sent.destroy(new AddressError());
    };
    if (socket.connecting) socket.on('connect', check);
    else check();
  });
}

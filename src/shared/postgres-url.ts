/** Scheme with user and password, addresses, and the rest of a PostgreSQL URL. */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/**
 * Returns a URL for each address of `postgresql://user:password@a:5432,b:5432/database`; the URL itself where there is one address. Such a
 * list is no URL of the WHATWG standard, which pg and MikroORM parse.
 */
export function splitAddresses(url: string): string[] {
  const [, begin = '', addresses = '', rest = ''] = FORM.exec(url) ?? [];
  return addresses.includes(',') ? addresses.split(',').map((address) => `${begin}${address}${rest}`) : [url];
}

/** Returns host, port and database of a URL, without the user, the password and the parameters. */
export function describeServers(url: string): string {
  const servers = splitAddresses(url).map((address) => new URL(address));
  return `${servers.map(({ host }) => host).join()}${servers[0]!.pathname}`;
}

/**
 * Whether connections must lead to a server that accepts writes: the URL has several addresses, or `target_session_attrs` of libpq is
 * `read-write` or `primary`.
 */
export function requiresPrimary(url: string): boolean {
  const [first, second] = splitAddresses(url);
  return second !== undefined || parseSessionTarget(first!) !== null;
}

/** Returns the value of `target_session_attrs`; null without one. */
export const parseSessionTarget = (url: string): string | null => new URL(url).searchParams.get('target_session_attrs');

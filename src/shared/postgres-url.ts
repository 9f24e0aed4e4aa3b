/** Scheme with user and password, addresses, and the rest of a PostgreSQL URL. */
const FORM = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is;

/** Returns a URL for each address of `postgresql://user:password@a:5432,b:5432/database`; the URL itself where there is one address. */
export function splitAddresses(url: string): string[] {
  const [, begin = '', addresses = '', rest = ''] = FORM.exec(url) ?? [];
  return addresses.includes(',') ? addresses.split(',').map((address) => `${begin}${address}${rest}`) : [url];
}

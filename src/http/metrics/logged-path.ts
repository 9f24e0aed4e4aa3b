/** Runs of characters that are longer than any id: access tokens, client secrets, codes and digests. And secrets of webhook endpoints. */
const CREDENTIALS = /whsec_.*|[\w.~%-]{40,}|(?<=\/\/)[^/]*@/gs;

/** Returns the path of a request for logs and traces: without the query, which may have codes and signatures, and without credentials. */
export const toLoggedPath = (url: string): string => url.split('?', 1)[0]!.replace(CREDENTIALS, '[redacted]');

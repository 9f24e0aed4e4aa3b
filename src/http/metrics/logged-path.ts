/** Runs longer than any id (tokens, secrets, codes, digests), secrets of webhook endpoints, user and password of an address. */
const CREDENTIALS = /whsec_.*|[\w.~%-]{40,}|(?<=(?:\/|%2f){2})[^/]*(?:@|%40)/gis;

/** Returns the path of a request for logs and traces: without the query, which may have codes and signatures, and without credentials. */
export const toLoggedPath = (url: string): string => url.split('?', 1)[0]!.replace(CREDENTIALS, '[redacted]');

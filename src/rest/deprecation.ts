import type { Deprecation } from '../../schema/rest.ts';

/** Returns the headers of RFC 9745 and RFC 8594 that every response of a deprecated operation has, with a link to the page. VER-10. */
export function createDeprecationHeaders({ since, sunset }: Deprecation, page: string): Record<string, string> {
  const link = (relation: string) => `<${page}>; rel="${relation}"; type="text/html"`;
  const headers = { Deprecation: `@${Date.parse(since) / 1000}`, Link: link('deprecation') };
  if (sunset === undefined) return headers;
  return { ...headers, Sunset: new Date(sunset).toUTCString(), Link: `${link('deprecation')}, ${link('sunset')}` };
}

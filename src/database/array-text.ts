/** Returns texts in PostgreSQL's notation of arrays: `{"a","b\\"c"}`. Without its quotation marks the text `null` would be none. */
export const toArrayText = (list: readonly string[]): string =>
  `{${list.map((each) => `"${each.replace(/[\\"]/g, '\\$&')}"`).join()}}`;

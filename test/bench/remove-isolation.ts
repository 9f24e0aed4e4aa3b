/** Code of the built service that limits requests, with its replacement, by file. A replacement that may follow an `if` is an expression. */
const REPLACEMENTS: Record<string, [text: string, replacement: string][]> = {
  'src/app.js': [
    ['limitPipelining(app);', ''],
    ['paceUncharged(app, (request) => authenticator.isVerified(request));', ''],
    ['installRequestUsage(app);', "app.decorateRequest('usage', null); app.decorateRequest('caller', null);"],
  ],
  'src/auth/request-usage.js': [
    ['const { requests } = this.#shares;', 'return undefined;'],
    ['return this.#shares.slowReads.run(this.#shareKey, 1, read);', 'return read();'],
    ['return this.#shares.transactions.run(this.#shareKey, 1, transaction);', 'return transaction();'],
    ['return this.#shares.writes.run(this.#shareKey, 1, transaction);', 'return transaction();'],
  ],
  'src/graphql/engine/plan.js': [
    ['meter.bytes += meter.sizeOf(value);', ''],
    ["'meter.bytes += meter.sizeOf(item)' : 'meter.check()'", "'' : ''"],
    [`statements.push(\`meter.fields += \${fields.size};\`);`, 'undefined;'],
    [`meter.bytes += \${bytes};`, ''],
  ],
  'src/graphql/engine/execution.js': [['meter.check();', '']],
  'src/graphql/server/plugin.js': [['createCostLimits(schema),', '']],
};

export const ISOLATION_FILES = Object.keys(REPLACEMENTS);

/**
 * Returns the code without the isolation of callers that every request passes: shares, byte counts, cost limits and pacing of requests.
 * Throws where the file does not contain the expected code.
 *
 * @param name Path of the file within the build.
 */
export function removeIsolation(code: string, name: string): string {
  return (REPLACEMENTS[name] ?? []).reduce((changed, [text, replacement]) => {
    if (!changed.includes(text)) throw new Error(`${name} has no "${text}".`);
    return changed.replaceAll(text, replacement);
  }, code);
}

/** Texts of the built service that limit what a request uses, and what stands in their place, an expression where they may follow an `if`. By file. */
const REPLACEMENTS: Record<string, [text: string, replacement: string][]> = {
  'src/app.js': [
    ['limitPipelining(app);', ''],
    ['paceUncharged(app, (authorization) => tokens.isVerified(authorization));', ''],
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

export const LIMITED_FILES = Object.keys(REPLACEMENTS);

/**
 * Returns the code without shares, byte counts, cost limits and the pacing of requests: what keeps callers from delaying each other, and
 * every request passes. Throws where a text is missing.
 *
 * @param name Path of the file within the build.
 */
export function withoutIsolation(code: string, name: string): string {
  return (REPLACEMENTS[name] ?? []).reduce((changed, [text, replacement]) => {
    if (!changed.includes(text)) throw new Error(`${name} has no "${text}".`);
    return changed.replaceAll(text, replacement);
  }, code);
}

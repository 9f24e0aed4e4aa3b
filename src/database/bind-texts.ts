import type { MikroORM } from '@mikro-orm/postgresql';

/** Maximum values of a statement of PostgreSQL. Only the demo and tests write more texts at once. */
const MAX_VALUES = 65_535;

/**
 * Has MikroORM send texts as bound values. It would write them into the text of the statement, which PostgreSQL shows in `pg_stat_activity` and
 * logs when it fails: names, addresses and what people wrote.
 */
export function bindTexts({ em, driver }: MikroORM): void {
  const platform = em.getPlatform();
  const connection = driver.getConnection();
  const escapeValue = platform.escape.bind(platform);
  const execute = connection.execute.bind(connection);
  /** Texts of the statement that is being formatted; null where a literal is needed. */
  let texts: string[] | null = null;
  platform.escape = (value) => (texts && typeof value === 'string' ? `$${texts.push(value)}` : escapeValue(value));
  const format = (query: string, params: readonly unknown[]) => {
    const parameters: string[] = [];
    texts = parameters;
    try {
      return { sql: platform.formatQuery(query, params), parameters };
    } finally {
      texts = null;
    }
  };
  connection.execute = (async (query, params = [], method, transaction, ...others) => {
    const bound = typeof query === 'string' && Array.isArray(params) ? format(query, params) : null;
    if (!bound?.parameters.length || bound.parameters.length > MAX_VALUES)
      return execute(query, params, method, transaction, ...others);
    const { sql, parameters } = bound;
    const executor = {
      executeQuery: (compiled: object, options: object) =>
        (transaction ?? connection.getClient()).executeQuery({ ...compiled, parameters } as never, options),
    };
    return execute(sql, [], method, executor as never, ...others);
  }) as typeof connection.execute;
}

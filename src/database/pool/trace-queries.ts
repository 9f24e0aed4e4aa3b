import type pg from 'pg';
import { traced, tracing } from '../../shared/tracing.ts';

/** The first words of a statement before its first value: MikroORM writes values into the text. */
const SUMMARY = /^\s*(\w+)(?:(?:(?<=update)|[^']{0,2000}?\b(?:from|into|update))\s+"?(\w+)"?)?/i;

/** Records a span for each statement of a connection whose queries return promises. Does nothing without tracing. */
export function traceQueries(client: pg.PoolClient): void {
  if (!tracing) return;
  const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
  client.query = ((...args: unknown[]) => {
    const [statement] = args;
    const text = typeof statement === 'string' ? statement : (statement as { text?: string })?.text;
    if (text === undefined || typeof args.at(-1) === 'function') return query(...args);
    const [, verb = '', table = ''] = SUMMARY.exec(text) ?? [];
    const summary = `${verb.toLowerCase()} ${table}`.trim();
    return traced(summary, { 'db.system.name': 'postgresql', 'db.query.summary': summary }, () => query(...args));
  }) as typeof client.query;
}

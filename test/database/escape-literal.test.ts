import { PostgreSqlPlatform } from '@mikro-orm/postgresql';
import { describe, expect, it } from 'vitest';
import { createOrm, escapeLiteral } from '../../src/database/orm.ts';

const texts = [
  '',
  'plain',
  "it's",
  "''",
  '\\',
  "a\\'b",
  "\\'; drop table meeting; --",
  'é漢😀\n\t"$1 ?',
  "'".repeat(3),
];

describe('escaping a literal', () => {
  it.each(texts)('returns what MikroORM returns, for %j', (text) => {
    expect(escapeLiteral(text)).toBe(new PostgreSqlPlatform().escape(text));
  });

  it('is what the service uses for the values of its statements', () => {
    const orm = createOrm('postgresql://localhost/none');
    for (const text of texts) expect(orm.em.getPlatform().quoteValue(text)).toBe(escapeLiteral(text));
    expect(Object.hasOwn(orm.em.getPlatform(), 'escape')).toBe(true);
  });
});

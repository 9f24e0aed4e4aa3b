import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settingsReference } from '../src/config.ts';

const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8');

/** What stands between two marks of the README. */
const between = (name: string) =>
  new RegExp(`<!-- ${name}:begin -->\n([\\s\\S]*?)\n?<!-- ${name}:end -->`).exec(readme)?.[1];

describe('the README', () => {
  it('shows the settings as the code that checks them prints them', () => {
    expect(between('settings')).toBe(settingsReference());
  });
});

import { describe, expect, it } from 'vitest';
import { formatCsvField, formatCsvRow } from '../../../src/console/browser/shared/csv.ts';

describe('a field of CSV', () => {
  it.each(['=1+1', '+61 2 9999', '-cmd', '@SUM(A1)', '\t=1', '＝1'])('%s is no formula', (text) => {
    expect(formatCsvField(text).replace(/^"/, '')).toMatch(/^'/);
  });

  it('keeps numbers, also negative ones', () => {
    expect([-1.5, 7, '-12.25', '8'].map(formatCsvField)).toEqual(['-1.5', '7', '-12.25', '8']);
  });

  it('quotes separators, quotes and line breaks', () => {
    expect(formatCsvField('a,b')).toBe('"a,b"');
    expect(formatCsvField('say "hi"')).toBe('"say ""hi"""');
    expect(formatCsvField('two\nlines')).toBe('"two\nlines"');
  });

  it('is empty for no value', () => {
    expect(formatCsvRow([null, undefined, '', 0])).toBe(',,,0\r\n');
  });
});

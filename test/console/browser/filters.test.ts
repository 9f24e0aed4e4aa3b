import { describe, expect, it } from 'vitest';
import { changeParameters, readParameter } from '../../../src/console/browser/shared/filters.ts';

const change = (address: string, changes: Record<string, string | null>) =>
  changeParameters(new URLSearchParams(address), changes).toString();

describe('the parameters of an address', () => {
  it.each(['page=3', 'after=abc', 'before=abc'])(
    'begin at the first page after a change of a filter: %s',
    (position) => {
      expect(change(`status=OPEN&${position}`, { status: 'CLOSED' })).toBe('status=CLOSED');
      expect(change(position, { kind: 'staff' })).toBe('kind=staff');
    },
  );

  it('keep the page while something of it is opened and closed', () => {
    expect(change('kind=staff&after=abc', { person: 'user_1' })).toBe('kind=staff&after=abc&person=user_1');
    expect(change('page=2&entry=audit_1', { entry: null })).toBe('page=2');
  });

  it('move to another page', () => {
    expect(change('kind=staff&after=abc', { after: 'def' })).toBe('kind=staff&after=def');
    expect(change('after=abc&entry=audit_1', { after: null, entry: null })).toBe('');
  });
});

it.each([
  ['date', '2026-11-22', true],
  ['date', 'yesterday', false],
  ['date', '2026-13-01', false],
  ['from', 'any', true],
  ['until', '22/11/2026', false],
  ['ends', '30', true],
  ['ends', '2026-11-01..2026-11-30', true],
  ['ends', '2026-11-01..', false],
  ['ends', 'soon', false],
  ['search', 'yesterday', true],
  ['search', '', false],
])('reads the parameter %s with the value %s: %s', (name, value, isRead) => {
  expect(readParameter(new URLSearchParams({ [name]: value }), name)).toBe(isRead ? value : undefined);
});

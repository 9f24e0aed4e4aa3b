import { describe, expect, it } from 'vitest';
import { createMentionMatcher } from '../../../src/domain/privacy/mentions.ts';

const person = { ids: ['user_1'], names: ['Sam Hill'], emails: ['sam.hill@example.com'] };
const matcher = createMentionMatcher(person, { pseudonym: 'P', email: 'p@x' });

describe('the mentions of a person', () => {
  it.each([
    ['Sam Hill', 'P'],
    ['seen by SAM HILL.', 'seen by P.'],
    ['Sam Hillary and Islam Hill', 'Sam Hillary and Islam Hill'],
    ['Sam left', 'Sam left'],
    ['mail to sam.hill@example.com!', 'mail to p@x!'],
    ['éSam Hill', 'éSam Hill'],
    ["Sam Hill's", "P's"],
  ])('in %j become %j', (text, expected) => {
    expect(matcher.replace(text)).toBe(expected);
    expect(matcher.find(text, 'notes')).toEqual(text === expected ? [] : [{ at: 'notes', text }]);
  });

  it('are found and replaced within JSON, and people as a whole', () => {
    const value = {
      author: { name: 'S. H.', externalId: 'e-1', email: 'Sam.Hill@example.com' },
      assignees: [
        { id: 'user_1', name: 'Sam', type: 'USER' },
        { id: 'sub_1', name: 'Steel', type: 'COMPANY' },
      ],
      text: ['with\nSam Hill'],
      count: 3,
      none: null,
    };
    expect(matcher.replace(value)).toEqual({
      author: { name: 'P', externalId: 'P', email: 'p@x' },
      assignees: [{ id: 'user_1', name: 'P', type: 'USER' }, value.assignees[1]],
      text: ['with\nP'],
      count: 3,
      none: null,
    });
    expect(matcher.find(value, 'content').map(({ at }) => at)).toEqual([
      ...['content.author', 'content.assignees[0]', 'content.text[0]'],
    ]);
  });

  it('leave a value that names nobody as it is', () => {
    const value = { a: [{ b: 'x' }] };
    expect(matcher.replace(value)).toBe(value);
  });
});

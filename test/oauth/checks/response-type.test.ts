import { expect, test } from 'vitest';
import { requireCodeResponseType } from '../../../src/oauth/checks/response-type.check.ts';
import { errorOf } from './check-fixtures.ts';

test('accepts only the response type code (RFC 6749 section 3.1.1)', () => {
  expect(errorOf(() => requireCodeResponseType('code'))).toBeNull();
  for (const type of ['token', 'code token', 'id_token', 'CODE', ' code', 'none']) {
    expect(
      errorOf(() => requireCodeResponseType(type)),
      type,
    ).toBe('unsupported_response_type');
  }
});

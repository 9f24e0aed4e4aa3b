import { expect, test } from 'vitest';
import { requireCodeResponse } from '../../../src/oauth/checks/response-type.ts';
import { errorOf } from './fixtures.ts';

test('RFC 6749 section 3.1.1: the response type is code', () => {
  expect(errorOf(() => requireCodeResponse('code'))).toBeNull();
  for (const type of ['token', 'code token', 'id_token', 'CODE', ' code', 'none']) {
    expect(
      errorOf(() => requireCodeResponse(type)),
      type,
    ).toBe('unsupported_response_type');
  }
});

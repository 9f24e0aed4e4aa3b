import { expect, test } from 'vitest';
import { requireRegisteredRedirectUri } from '../../../src/oauth/checks/redirect-uri.check.ts';
import { aClient, errorOf } from './check-fixtures.ts';

const registered = [
  'https://app.example/callback',
  'http://127.0.0.1:8977/callback',
  'https://app.example/bad#fragment',
];
const check = (redirectUri: string) =>
  errorOf(() => requireRegisteredRedirectUri(redirectUri, aClient({ redirectUris: registered })));

test('accepts exactly the registered redirect URIs, without a fragment (RFC 6749 section 3.1.2.3)', () => {
  expect(check('https://app.example/callback')).toBeNull();
  expect(check('http://127.0.0.1:8977/callback')).toBeNull();
  for (const unregistered of [
    ...['https://app.example/callback/', 'https://app.example/Callback', 'https://app.example/callback?a=1'],
    ...['https://app.example.evil.example/callback', 'https://app.example@evil.example/callback'],
    ...['https://app.example:443/callback', 'https://app.example./callback', 'https://app.example/callback#'],
    ...['https://app.example/%63allback', 'https://app.example%2Fcallback', 'https://app.example/x/../callback'],
    ...['http://127.0.0.1:8978/callback', 'http://localhost:8977/callback', 'HTTPS://app.example/callback', ' '],
    ...['https://app.example/callback\n', 'javascript:alert(1)', 'https://app.example/bad#fragment'],
  ]) {
    expect(check(unregistered), unregistered).toBe('invalid_request');
  }
});

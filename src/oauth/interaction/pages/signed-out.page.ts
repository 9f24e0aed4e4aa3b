import { html } from './html.ts';
import type { Page } from './layout.ts';

/** Returns the page after signing out, with a link to sign in again unless `signInUrl` is null. */
export const createSignedOutPage = (signInUrl: string | null): Page => ({
  title: 'Signed out',
  narrow: true,
  content: html`<h1>You are signed out</h1>
<p class="lead">To continue in this browser, sign in again. Access that you allowed before remains valid.</p>
${signInUrl !== null && html`<p><a class="button" href="${signInUrl}">Sign in again</a></p>`}`,
});

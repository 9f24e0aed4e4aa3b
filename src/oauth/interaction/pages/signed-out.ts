import { html } from './html.ts';
import type { Page } from './layout.ts';

/** The session is over. */
export const signedOutPage = (again: string | null): Page => ({
  title: 'Signed out',
  narrow: true,
  content: html`<h1>You are signed out</h1>
<p class="lead">Nobody can go on from this browser without signing in again. Access that you allowed before is not touched.</p>
${again !== null && html`<p><a class="button" href="${again}">Sign in again</a></p>`}`,
});

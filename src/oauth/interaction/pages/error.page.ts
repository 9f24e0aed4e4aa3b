import { html } from './html.ts';
import type { Page } from './layout.ts';

interface ErrorPageContent {
  title: string;
  message: string;
  /** Detail for the developers of the client. */
  detail: string | null;
  /** Shown as the reference to quote in a support request. */
  requestId: string;
  /** Target of the "Try again" link; null for none. */
  retryUrl: string | null;
}

/** Returns the page of an error that is not sent to the client. */
export const createErrorPage = ({ title, message, detail, requestId, retryUrl }: ErrorPageContent): Page => ({
  title,
  narrow: true,
  content: html`<h1>${title}</h1>
<p class="lead">${message}</p>
${retryUrl !== null && html`<p><a class="button" href="${retryUrl}">Try again</a></p>`}
${detail !== null && html`<p class="small">For the developers of the application: ${detail}</p>`}
<p class="reference">Reference: ${requestId}</p>`,
});

import type { PageError } from '../page-error.ts';
import { html } from './html.ts';
import type { Page } from './layout.ts';

/**
 * Returns the page of an error that is not sent to the client.
 *
 * @param requestId the reference to quote in a support request
 * @param retryUrl target of the "Try again" link; null for none
 */
export const createErrorPage = (
  { title, message, detail }: Pick<PageError, 'title' | 'message' | 'detail'>,
  requestId: string,
  retryUrl: string | null = null,
): Page => ({
  title,
  narrow: true,
  content: html`<h1>${title}</h1>
<p class="lead">${message}</p>
${retryUrl !== null && html`<p><a class="button" href="${retryUrl}">Try again</a></p>`}
${detail !== null && html`<p class="small">For the developers of the application: ${detail}</p>`}
<p class="reference">Reference: ${requestId}</p>`,
});

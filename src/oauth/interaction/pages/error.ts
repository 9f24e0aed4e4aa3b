import { html } from './html.ts';
import type { Page } from './layout.ts';

interface ErrorText {
  title: string;
  message: string;
  /** For whoever makes the application. */
  detail: string | null;
  /** What to quote when asking for help. */
  requestId: string;
  /** Address of another try, where one helps. */
  again: string | null;
}

/** What went wrong, for the person at the browser, when there is no application to send them back to. */
export const errorPage = ({ title, message, detail, requestId, again }: ErrorText): Page => ({
  title,
  narrow: true,
  content: html`<h1>${title}</h1>
<p class="lead">${message}</p>
${again !== null && html`<p><a class="button" href="${again}">Try again</a></p>`}
${detail !== null && html`<p class="small">For the makers of the application: ${detail}</p>`}
<p class="reference">Reference: ${requestId}</p>`,
});

import { type FormContext, renderEmailField, renderForm } from '../../interaction/pages/forms.ts';
import { html } from '../../interaction/pages/html.ts';
import type { Page } from '../../interaction/pages/layout.ts';

/** Returns the form that requests a link for choosing a password. */
export const createForgotPasswordPage = (context: FormContext): Page => ({
  title: 'Forgot your password?',
  narrow: true,
  content: html`<h1>Forgot your password?</h1>
<p class="lead">We send you a link with which you choose a new one.</p>
${renderForm(
  context,
  '/account/forgot-password',
  html`${renderEmailField(html` autofocus`)}
<button>Send the link</button>`,
  '',
)}`,
});

/** Returns the page after a request, the same whether or not there is an account. */
export const createLinkRequestedPage = (): Page => ({
  title: 'Look in your mailbox',
  narrow: true,
  content: html`<h1>Look in your mailbox</h1>
<p class="lead">If there is an account with this e-mail address, a message with a link is on its way. The link works for 24 hours.</p>
<p class="small">Nothing arrives? Look in the spam folder, and check the address. An account gets at most three links in an hour. If you
have never had a password, ask your company to invite you.</p>`,
});

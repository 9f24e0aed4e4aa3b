import { LONGEST_PASSWORD, SHORTEST_PASSWORD } from '../../../domain/access/password-rules.ts';
import { type FormContext, renderEmailField, renderForm } from '../../interaction/pages/forms.ts';
import { html } from '../../interaction/pages/html.ts';
import type { Page } from '../../interaction/pages/layout.ts';

/** Returns the form for choosing a password. @param problem Shown above the form; null before the first attempt. */
export function createChoosePasswordPage(
  context: FormContext,
  { email }: { email: string },
  problem: string | null,
): Page {
  const invalid = problem !== null && html` aria-invalid="true"`;
  const describedBy = problem === null ? 'rules' : 'problem rules';
  return {
    title: problem === null ? 'Choose a password' : 'Error: choose a password',
    narrow: true,
    content: html`<h1>Choose a password</h1>
<p class="lead">for <strong>${email}</strong></p>
${problem !== null && html`<div class="notice wrong" role="alert" id="problem"><p>${problem}</p></div>`}
${renderForm(
  context,
  '/account/password',
  html`<input type="hidden" name="username" autocomplete="username" value="${email}">
<div class="field">
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required
 maxlength="${String(2 * LONGEST_PASSWORD)}" aria-describedby="${describedBy}" autofocus${invalid}>
<p class="small hint" id="rules">At least ${String(SHORTEST_PASSWORD)} characters. No common password, and not your name or e-mail address. A few unrelated words are easy to remember and hard to guess.</p>
</div>
<div class="field">
<label for="repeated">Repeat it</label>
<input id="repeated" name="repeated" type="password" autocomplete="new-password" required
 maxlength="${String(2 * LONGEST_PASSWORD)}"${invalid}>
</div>
<button>Save the password</button>`,
  '',
)}
<p class="small">Saving it signs you out everywhere.</p>`,
  };
}

/** Returns the page after a password was saved. */
export const createPasswordSavedPage = (): Page => ({
  title: 'Password saved',
  narrow: true,
  content: html`<h1>Your password is saved</h1>
<p class="lead">You are signed out everywhere. Go back to the application and sign in with the new password.</p>
<p><a class="button" href="/account/applications">See the applications that use your data</a></p>`,
});

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

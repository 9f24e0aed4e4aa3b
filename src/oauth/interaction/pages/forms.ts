import { deriveCsrfToken } from '../csrf-token.ts';
import type { SignedInUser } from '../sessions.ts';
import { html, type Markup } from './html.ts';

/** Context of the forms of a page. */
export interface FormContext {
  /** The browser id that the CSRF token is derived from. */
  browserId: string;
  /** Query of every form's action: the authorization request, or the report to open. */
  query: string;
}

/** Context of the forms of a page that names the client. */
export interface ClientFormContext extends FormContext {
  clientName: string;
}

/** Renders a form that posts to the path, with the CSRF token and the query of the context. */
export const renderForm = (
  { browserId, query }: FormContext,
  path: string,
  content: Markup,
  className = 'actions',
): Markup =>
  html`<form method="post" action="${path}?${query}" class="${className}">
<input type="hidden" name="csrf" value="${deriveCsrfToken(browserId)}">
${content}
</form>`;

export const renderEmailField = (attributes: Markup): Markup => html`<div class="field">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" inputmode="email" autocapitalize="none"
 spellcheck="false" required maxlength="320"${attributes}>
</div>`;

/** Renders a form that continues the authorization request. */
export const renderPromptForm = (context: FormContext, content: Markup, className?: string): Markup =>
  renderForm(context, '/oauth/authorize', content, className);

/** Renders the form that returns to the client with `access_denied`. */
export const renderCancelForm = (context: FormContext): Markup =>
  renderPromptForm(context, html`<button class="second" name="action" value="deny">Cancel</button>`);

/** Renders the name of the signed-in user and the sign-out form. */
export const renderSignedInUser = (context: FormContext, user: SignedInUser, path = '/oauth/sign-out'): Markup =>
  html`<div class="who">
Signed in as <strong>${user.name}</strong> (${user.email}). Not you?
${renderForm(context, path, html`<button class="link">Sign out</button>`, 'inline')}
</div>`;

import { csrfTokenOf } from '../browser.ts';
import type { SignedInUser } from '../sessions.ts';
import { html, type Markup } from './html.ts';

/** What the forms of a page need: the browser that they are shown to, and what they go on with. */
export interface FormContext {
  browserId: string;
  /** Query that every form's address carries on: an authorization request, or what is to be read. */
  query: string;
}

export interface ApplicationContext extends FormContext {
  /** Name of the application that asks. */
  application: string;
}

/** A form that posts to the path, with the same query. */
export const form = ({ browserId, query }: FormContext, path: string, content: Markup, className = 'actions'): Markup =>
  html`<form method="post" action="${path}?${query}" class="${className}">
<input type="hidden" name="csrf" value="${csrfTokenOf(browserId)}">
${content}
</form>`;

/** Goes back to the application without access. */
export const cancelForm = (context: FormContext): Markup =>
  form(context, '/oauth/authorize', html`<button class="second" name="action" value="deny">Cancel</button>`);

/** Who is signed in, and the way out. */
export const signedInAs = (context: FormContext, user: SignedInUser, path = '/oauth/sign-out'): Markup =>
  html`<div class="who">
Signed in as <strong>${user.name}</strong> (${user.email}). Not you?
${form(context, path, html`<button class="link">Sign out</button>`, 'inline')}
</div>`;

import { type FormContext, renderEmailField, renderForm } from './forms.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './layout.ts';

/** Content of the sign-in form after a failed attempt; empty before the first. */
export interface SignInState {
  /** As typed. */
  email: string;
  problem: { kind: 'rejected' } | { kind: 'throttled'; seconds: number } | null;
}

export interface SignInForm {
  /** Path that the form posts to. */
  path: string;
  /** Purpose, shown after "Sign in", such as `to read the photo report`. */
  purpose: Markup;
  /** Path of the sign-in at an OpenID Connect provider; absent or null without one. */
  providerPath?: string | null;
  /** Whether the page has the form; false where only the provider signs in. Default true. */
  takesPassword?: boolean;
  /** Renders what comes after the form. */
  renderFooter?: (context: FormContext) => Markup;
}

/**
 * Returns the sign-in page, with the problem of the previous attempt if there was one.
 *
 * @param form.offersReset whether the page offers to send a link for choosing a password
 */
export function createSignInPage(
  context: FormContext,
  { providerPath = null, takesPassword = true, offersReset, ...form }: SignInForm & { offersReset: boolean },
  { email, problem }: SignInState,
): Page {
  const invalid = problem?.kind === 'rejected' && html` aria-invalid="true" aria-describedby="problem"`;
  return {
    title: problem ? 'Error: sign in' : 'Sign in',
    narrow: true,
    content: html`<h1>Sign in</h1>
<p class="lead">${form.purpose}</p>
${problem && html`<div class="notice wrong" role="alert" id="problem"><p>${describeProblem(problem)}</p></div>`}
${providerPath !== null && html`<p><a class="button" href="${providerPath}">Continue with single sign-on</a></p>`}
${providerPath !== null && takesPassword && html`<p class="lead">or with a password</p>`}
${
  takesPassword &&
  renderForm(
    context,
    form.path,
    html`${renderEmailField(html` value="${email}"${email === '' && html` autofocus`}${invalid}`)}
<div class="field">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required
 maxlength="1000"${email !== '' && html` autofocus`}${invalid}>
</div>
<button>Sign in</button>`,
    '',
  )
}
${offersReset && html`<p class="small"><a href="/account/forgot-password">Forgot your password?</a></p>`}
${form.renderFooter?.(context) ?? null}`,
  };
}

function describeProblem(problem: NonNullable<SignInState['problem']>): string {
  if (problem.kind === 'rejected') return 'The e-mail or the password is not right. Check both and try again.';
  return `Too many attempts from your network. Wait ${formatWait(problem.seconds)}, then try again.`;
}

function formatWait(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

import { type FormContext, form } from './forms.ts';
import { html, type Markup } from './html.ts';
import type { Page } from './layout.ts';

export interface SignInState {
  /** As it was typed. */
  email: string;
  problem: { kind: 'wrong' } | { kind: 'wait'; seconds: number } | null;
}

interface SignInTarget {
  /** Where the form is sent. */
  path: string;
  /** What it is for, after "Sign in". */
  purpose: Markup;
  /** What can be done instead. */
  otherwise: Markup | null;
}

export function signInPage(context: FormContext, target: SignInTarget, { email, problem }: SignInState): Page {
  const invalid = problem?.kind === 'wrong' && html` aria-invalid="true" aria-describedby="problem"`;
  return {
    title: problem ? 'Error: sign in' : 'Sign in',
    narrow: true,
    content: html`<h1>Sign in</h1>
<p class="lead">${target.purpose}</p>
${problem && html`<div class="notice wrong" role="alert" id="problem"><p>${textOf(problem)}</p></div>`}
${form(
  context,
  target.path,
  html`<div class="field">
<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" inputmode="email" autocapitalize="none"
 spellcheck="false" required maxlength="320" value="${email}"${email === '' && html` autofocus`}${invalid}>
</div>
<div class="field">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required
 maxlength="1000"${email !== '' && html` autofocus`}${invalid}>
</div>
<button>Sign in</button>`,
  '',
)}
${target.otherwise}`,
  };
}

function textOf(problem: NonNullable<SignInState['problem']>): string {
  if (problem.kind === 'wrong') return 'The e-mail or the password is not right. Check both and try again.';
  return `Too many attempts from your network. Wait ${waitOf(problem.seconds)}, then try again.`;
}

function waitOf(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}

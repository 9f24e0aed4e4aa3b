import type { OAuthDependencies } from '../dependencies.ts';
import { PageRequest } from '../interaction/page-request.ts';
import { html } from '../interaction/pages/html.ts';

/** A request to a page of the user's own account, which may be in every region. */
export class AccountRequest extends PageRequest<OAuthDependencies> {
  override readonly formQuery = '';
  override readonly signInForm = {
    path: '/account/sign-in',
    purpose: html`to see the applications that use your data`,
  };
  override readonly resumeUrl = '/account/applications';
  override readonly signedOutUrl = '/account/signed-out';
}

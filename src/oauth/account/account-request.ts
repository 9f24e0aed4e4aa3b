import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OAuthDependencies } from '../dependencies.ts';
import { PageRequest } from '../interaction/page-request.ts';
import type { FormContext } from '../interaction/pages/forms.ts';
import { html } from '../interaction/pages/html.ts';
import type { Page } from '../interaction/pages/layout.ts';
import { createSignInPage, type SignInState } from '../interaction/pages/sign-in.page.ts';
import { sendPage } from '../interaction/send-page.ts';

/** A request to a page of the user's own account, which may be in every region. */
export class AccountRequest extends PageRequest {
  constructor(
    readonly dependencies: OAuthDependencies,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    super(dependencies, request, reply);
  }

  formContext(query = ''): FormContext {
    return { browserId: this.ensureBrowserId(), query };
  }

  show(page: Page, status = 200): FastifyReply {
    return sendPage(this.reply, status, page);
  }

  override showSignIn(state: SignInState, status = 200): FastifyReply {
    const purpose = html`to see the applications that use your data`;
    const target = { path: '/account/sign-in', purpose, footer: null, offersReset: this.offersPasswordReset };
    return this.show(createSignInPage(this.formContext(), target, state), status);
  }

  override resume(): FastifyReply {
    return this.reply.redirect('/account/applications', 303);
  }

  override redirectToSignedOut(): FastifyReply {
    return this.reply.redirect('/account/signed-out', 303);
  }
}

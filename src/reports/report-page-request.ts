import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Databases } from '../database/database.ts';
import { PageError } from '../oauth/interaction/page-error.ts';
import { PageRequest } from '../oauth/interaction/page-request.ts';
import type { FormContext } from '../oauth/interaction/pages/forms.ts';
import { html } from '../oauth/interaction/pages/html.ts';
import { createSignInPage, type SignInState } from '../oauth/interaction/pages/sign-in.page.ts';
import { sendPage } from '../oauth/interaction/send-page.ts';
import type { HashLimits } from '../oauth/interaction/verify-sign-in.ts';
import type { Clock } from '../shared/clock.ts';
import { idPattern } from '../shared/ids.ts';

export interface ReportPageDependencies {
  databases: Databases;
  clock: Clock;
  shares: HashLimits;
  baseUrl: string;
  /** Absent without a mail server. */
  passwordResets?: unknown;
}

export const isReportId = (value: unknown): value is string =>
  typeof value === 'string' && idPattern('photoReport').test(value);

/** 404, the same for a report that does not exist and for one that the user may not read. */
export const reportNotFound = () =>
  new PageError(
    404,
    'Not found',
    'This report does not exist, or it belongs to a company that you are not a member of.',
    false,
  );

/**
 * A page request for one photo report. Its URL names no region, so the user signs in to every region that has an account
 * with the e-mail address and password. PRP-40.
 */
export class ReportPageRequest extends PageRequest {
  readonly reportId: string;

  /** Throws 404 for an invalid report id, so that every redirect that contains the id stays on this site. */
  constructor(dependencies: ReportPageDependencies, request: FastifyRequest, reply: FastifyReply, reportId: unknown) {
    super(dependencies, request, reply);
    if (!isReportId(reportId)) throw reportNotFound();
    this.reportId = reportId;
  }

  formContext(): FormContext {
    return { browserId: this.ensureBrowserId(), query: `to=${this.reportId}` };
  }

  override showSignIn(state: SignInState, status = 200): FastifyReply {
    const target = {
      path: '/reports/sign-in',
      purpose: html`to read the photo report`,
      footer: null,
      offersReset: this.offersPasswordReset,
    };
    return sendPage(this.reply, status, createSignInPage(this.formContext(), target, state));
  }

  redirectToSignIn(): FastifyReply {
    return this.reply.redirect(`/reports/sign-in?to=${this.reportId}`, 303);
  }

  override resume(): FastifyReply {
    return this.reply.redirect(`/reports/${this.reportId}`, 303);
  }

  override redirectToSignedOut(): FastifyReply {
    return this.reply.redirect(`/reports/signed-out?to=${this.reportId}`, 303);
  }
}

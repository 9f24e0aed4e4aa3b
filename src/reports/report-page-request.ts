import type { FastifyReply, FastifyRequest } from 'fastify';
import { idPattern } from '../../schema/ids.ts';
import { PageError } from '../oauth/interaction/page-error.ts';
import { type PageDependencies, PageRequest } from '../oauth/interaction/page-request.ts';
import { html } from '../oauth/interaction/pages/html.ts';

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
  override readonly formQuery: string;
  override readonly signInForm = { path: '/reports/sign-in', purpose: html`to read the photo report` };
  override readonly resumeUrl: string;
  override readonly signedOutUrl: string;
  readonly reportId: string;

  /** Throws 404 for an invalid report id, so that every redirect that contains the id stays on this site. */
  constructor(dependencies: PageDependencies, request: FastifyRequest, reply: FastifyReply, reportId: unknown) {
    super(dependencies, request, reply);
    if (!isReportId(reportId)) throw reportNotFound();
    this.reportId = reportId;
    this.formQuery = `to=${reportId}`;
    this.resumeUrl = `/reports/${reportId}`;
    this.signedOutUrl = `/reports/signed-out?to=${reportId}`;
  }
}

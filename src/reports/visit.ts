import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database, Databases } from '../database/database.ts';
import { PageError } from '../oauth/interaction/page-error.ts';
import { PageVisit } from '../oauth/interaction/page-request.ts';
import type { FormContext } from '../oauth/interaction/pages/forms.ts';
import { html } from '../oauth/interaction/pages/html.ts';
import { type SignInState, signInPage } from '../oauth/interaction/pages/sign-in.ts';
import { sendPage } from '../oauth/interaction/send-page.ts';
import { findSignedIn, type SignedInUser } from '../oauth/interaction/sessions.ts';
import type { Clock } from '../shared/clock.ts';
import { idPattern } from '../shared/ids.ts';
import { REGIONS } from '../shared/regions.ts';

export interface VisitParts {
  databases: Databases;
  clock: Clock;
  baseUrl: string;
}

/** Somebody who has signed in in the browser, and the region of their account. */
export interface Visitor {
  database: Database;
  user: SignedInUser;
}

export const isReportId = (value: unknown): value is string =>
  typeof value === 'string' && idPattern('photoReport').test(value);

/** 404, whether there is no such report or it is not the visitor's to see. */
export const noSuchReport = () =>
  new PageError(404, 'Not found', 'There is no such report, or it is of a builder that is not yours.', false);

/**
 * A browser on its way to one report. The address names no region and no application, so a person signs in to every region in
 * which the password opens an account of theirs (PRP-40).
 */
export class ReportVisit extends PageVisit {
  readonly reportId: string;

  /** Throws 404 for what is no id of a report: whatever is asked for next is one, so no address leads elsewhere. */
  constructor(parts: VisitParts, http: FastifyRequest, reply: FastifyReply, reportId: unknown) {
    const [first, ...others] = REGIONS;
    super(parts, http, reply, [parts.databases[first], ...others.map((region) => parts.databases[region])]);
    if (!isReportId(reportId)) throw noSuchReport();
    this.reportId = reportId;
  }

  /** Who has signed in, in the order of the regions. */
  async visitors(): Promise<Visitor[]> {
    const found = await Promise.all(
      this.databases.map(async (database) => {
        const user = await findSignedIn(database, this.browserIdIn(database), this.now);
        return user && { database, user };
      }),
    );
    return found.filter((visitor) => visitor !== null);
  }

  forms(): FormContext {
    return { browserId: this.browserIdForForms(), query: `to=${this.reportId}` };
  }

  override showSignIn(state: SignInState, status = 200): FastifyReply {
    const target = { path: '/reports/sign-in', purpose: html`to read the photo report`, otherwise: null };
    return sendPage(this.reply, status, signInPage(this.forms(), target, state));
  }

  askToSignIn(): FastifyReply {
    return this.reply.redirect(`/reports/sign-in?to=${this.reportId}`, 303);
  }

  override goOn(): FastifyReply {
    return this.reply.redirect(`/reports/${this.reportId}`, 303);
  }

  override goOut(): FastifyReply {
    return this.reply.redirect(`/reports/signed-out?to=${this.reportId}`, 303);
  }
}

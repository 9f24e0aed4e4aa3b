import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { RequestUsage } from '../auth/request-usage.ts';
import { preparePages, refuseOtherMethods } from '../oauth/interaction/interaction-pages.ts';
import { errorPage } from '../oauth/interaction/pages/error.ts';
import { signedInAs } from '../oauth/interaction/pages/forms.ts';
import { html } from '../oauth/interaction/pages/html.ts';
import { signedOutPage } from '../oauth/interaction/pages/signed-out.ts';
import { sendPage } from '../oauth/interaction/send-page.ts';
import { signIn, signOut } from '../oauth/interaction/sign-in.ts';
import type { FairShares } from '../shared/fair-shares.ts';
import { inChunks } from '../shared/json-chunks.ts';
import type { Storages } from '../storage/storage.ts';
import { findView } from './find-view.ts';
import { renderReport } from './render.ts';
import { STYLES } from './styles.ts';
import { isReportId, noSuchReport, ReportVisit, type Visitor, type VisitParts } from './visit.ts';

interface ReportPagesParts extends VisitParts {
  storages: Storages;
  shares: FairShares;
  /** Takes one request from the budget of the visitor's address; throws 429. */
  limitVisitor: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

const STYLESHEET = `/reports/assets/report-${createHash('sha256').update(STYLES).digest('hex').slice(0, 16)}.css`;

/**
 * `/reports/{photoReportId}`: a report as a page to read, for members of its builder, who sign in on the way. The region is that
 * of the session, as the browser sends no header (PRP-38, PRP-40).
 */
export async function registerReportPages(app: FastifyInstance, parts: ReportPagesParts): Promise<void> {
  const { storages, shares, baseUrl } = parts;
  const policy = [
    ...["default-src 'none'", "style-src 'self'", `img-src 'self' ${new URL(baseUrl).origin}`],
    ...["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"],
  ].join('; ');

  const read = async (visit: ReportVisit): Promise<FastifyReply> => {
    const visitors = await visit.visitors();
    if (visitors.length === 0) return visit.askToSignIn();
    const usage = new RequestUsage(shares, `user:${visitors[0]!.user.id}`);
    visit.http.usage = usage;
    await usage.begin();
    for (const visitor of visitors) {
      const view = await findView(
        { ...visitor, database: visitor.database.withLimits(usage) },
        storages,
        visit.reportId,
      );
      if (!view) continue;
      usage.streamedBytes = view.bytes;
      return visit.reply
        .headers({
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Security-Policy': policy,
          'X-Frame-Options': 'DENY',
        })
        .send(Readable.from(inChunks(renderReport(view, visit.forms(), STYLESHEET)), { highWaterMark: 1 }));
    }
    return showNotFound(visit, visitors[0]!);
  };
  const askWho = async (visit: ReportVisit): Promise<FastifyReply> => {
    const visitors = await visit.visitors();
    return visitors.length > 0 ? visit.goOn() : visit.showSignIn({ email: '', problem: null });
  };
  const sayGoodbye = async ({ reply, reportId }: ReportVisit) =>
    sendPage(reply, 200, signedOutPage(`/reports/${reportId}`));

  await app.register(async (pages) => {
    const visiting =
      (work: (visit: ReportVisit) => Promise<FastifyReply>) => (http: FastifyRequest, reply: FastifyReply) =>
        work(new ReportVisit(parts, http, reply, idOf(http)));
    preparePages(pages, parts.limitVisitor, (http) => (isReportId(idOf(http)) ? `/reports/${idOf(http)}` : null));
    pages.get(STYLESHEET, async (_request, reply) =>
      reply
        .headers({ 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': 'public, max-age=31536000, immutable' })
        .send(STYLES),
    );
    pages.get('/reports/:photoReportId', visiting(read));
    pages.get('/reports/sign-in', visiting(askWho));
    pages.post('/reports/sign-in', visiting(signIn));
    pages.post('/reports/sign-out', visiting(signOut));
    pages.get('/reports/signed-out', visiting(sayGoodbye));
    refuseOtherMethods(pages, {
      '/reports/:photoReportId': 'GET',
      '/reports/sign-in': 'GET, POST',
      '/reports/sign-out': 'POST',
      '/reports/signed-out': 'GET',
    });
  });
}

/** Of the path, or, where a form leads, of the query. */
function idOf({ params, query }: FastifyRequest): unknown {
  return (params as { photoReportId?: string }).photoReportId ?? (query as { to?: unknown }).to;
}

/** The same as for what is no id at all, and who it is that may not see it. */
function showNotFound(visit: ReportVisit, { user }: Visitor): FastifyReply {
  const { status, title, message } = noSuchReport();
  const page = errorPage({ title, message, detail: null, requestId: visit.http.id, again: null });
  const content = html`${page.content}${signedInAs(visit.forms(), user, '/reports/sign-out')}`;
  return sendPage(visit.reply, status, { ...page, content });
}

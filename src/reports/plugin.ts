import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inChunks } from '../auth/json-chunks.ts';
import { RequestUsage } from '../auth/request-usage.ts';
import type { FairShares } from '../limits/fair-shares.ts';
import { inSlices } from '../limits/time-slice.ts';
import { configurePages, registerPages } from '../oauth/interaction/configure-pages.ts';
import type { PageDependencies, RegionalUser } from '../oauth/interaction/page-request.ts';
import { createAsset, registerAssets } from '../oauth/interaction/pages/assets.ts';
import { createErrorPage } from '../oauth/interaction/pages/error.page.ts';
import { renderSignedInUser } from '../oauth/interaction/pages/forms.ts';
import { html } from '../oauth/interaction/pages/html.ts';
import { createSignedOutPage } from '../oauth/interaction/pages/signed-out.page.ts';
import { createPageHeaders } from '../oauth/interaction/send-page.ts';
import { signIn, signOut } from '../oauth/interaction/sign-in.ts';
import type { Storages } from '../storage/storage.ts';
import { loadReportView } from './load-report-view.ts';
import { renderReportPage } from './report.page.ts';
import { isReportId, ReportPageRequest, reportNotFound } from './report-page-request.ts';
import { STYLES } from './styles.ts';

interface ReportPagesDependencies extends PageDependencies {
  storages: Storages;
  shares: FairShares;
  /** Charges one request to the address's rate limit; throws 429. */
  limitPageRequest: (request: FastifyRequest) => Promise<void>;
}

const stylesheet = createAsset('/reports/assets/report', 'css', STYLES);

/**
 * Registers `/reports/{photoReportId}`, a photo report as a page for the members of its builder, and its sign-in pages. The
 * region is that of the session, because a browser sends no `X-Service-Region-Id`. PRP-38, PRP-40.
 */
export async function registerReportPages(app: FastifyInstance, dependencies: ReportPagesDependencies): Promise<void> {
  const { storages, shares, baseUrl, limitPageRequest } = dependencies;
  const headers = createPageHeaders([new URL(baseUrl).origin]);

  const showReport = async (page: ReportPageRequest): Promise<FastifyReply> => {
    const users = await page.findUsers();
    if (users.length === 0) return page.redirect(`/reports/sign-in?to=${page.reportId}`);
    const usage = new RequestUsage(shares, `user:${users[0]!.user.id}`);
    page.request.usage = usage;
    await usage.begin();
    for (const user of users) {
      const view = await loadReportView(
        { ...user, database: user.database.withLimits(usage) },
        storages,
        page.reportId,
      );
      if (!view) continue;
      usage.streamedBytes = view.contentBytes;
      const chunks = inChunks(renderReportPage(view, page.formContext(), stylesheet.path));
      return page.reply.headers(headers).send(Readable.from(inSlices(chunks), { highWaterMark: 1 }));
    }
    return showNotFound(page, users[0]!);
  };
  const showSignIn = async (page: ReportPageRequest): Promise<FastifyReply> => {
    const users = await page.findUsers();
    return users.length > 0 ? page.resume() : page.showSignIn();
  };

  await app.register(async (pages) => {
    configurePages(pages, limitPageRequest, (request) => {
      const reportId = getReportId(request);
      return isReportId(reportId) ? `/reports/${reportId}` : null;
    });
    registerAssets(pages, [stylesheet]);
    registerPages<ReportPageRequest>(
      pages,
      (handle) => async (request, reply) =>
        handle(new ReportPageRequest(dependencies, request, reply, getReportId(request))),
      {
        '/reports/:photoReportId': { get: showReport },
        '/reports/sign-in': { get: showSignIn, post: signIn },
        '/reports/sign-out': { post: signOut },
        '/reports/signed-out': { get: (page) => page.show(createSignedOutPage(page.resumeUrl)) },
      },
    );
  });
}

/** The report id of the path, or of the query `to` on the sign-in pages. */
function getReportId({ params, query }: FastifyRequest): unknown {
  return (params as { photoReportId?: string }).photoReportId ?? (query as { to?: unknown }).to;
}

/** Sends the same 404 page as for an invalid report id, with the signed-in user and a sign-out form. */
function showNotFound(page: ReportPageRequest, { user }: RegionalUser): FastifyReply {
  const error = reportNotFound();
  const notFound = createErrorPage(error, page.request.id);
  const content = html`${notFound.content}${renderSignedInUser(page.formContext(), user, '/reports/sign-out')}`;
  return page.show({ ...notFound, content }, error.status);
}

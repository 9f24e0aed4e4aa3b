import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { photos } from '../../resolvers/photo/photo.reader.ts';
import { photoReports, reportContents, type StoredContent } from '../../resolvers/photo-report/photo-report.reader.ts';
import { readTree } from '../../resolvers/photo-report/report-tree.ts';
import type { ReportPage } from '../../resolvers/photo-report/report-tree.type.ts';
import { projects } from '../../resolvers/project/project.reader.ts';
import type { Clock } from '../clock.ts';
import { REGIONS, type RegionId } from '../context.ts';
import type { Database, Databases } from '../database/database.ts';
import { asApiError } from '../database/errors.ts';
import type { Statement } from '../database/wire.ts';
import { idPattern } from '../ids.ts';
import { readBrowserId } from '../oauth/browser.ts';
import { errorPage } from '../oauth/pages/error.ts';
import { sendPage } from '../oauth/send-page.ts';
import { findSignedIn, type SignedInUser } from '../oauth/sessions.ts';
import type { Storages } from '../storage/storage.ts';
import { type ReportView, renderReport } from './render.ts';
import { STYLES } from './styles.ts';

interface ReportPagesParts {
  databases: Databases;
  storages: Storages;
  clock: Clock;
  baseUrl: string;
  /** Takes one request from the budget of the visitor's address; throws 429. */
  limitVisitor: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

const STYLESHEET = `/reports/assets/report-${createHash('sha256').update(STYLES).digest('hex').slice(0, 16)}.css`;

const IS_MEMBER: Statement = {
  name: 'reports.is-member',
  text: `select from membership m join photo_report r on r.builder_id = m.builder_id where r.id = $1 and m.user_id = $2`,
};

interface Visitor {
  region: RegionId;
  user: SignedInUser;
}

/**
 * `/reports/{photoReportId}`: a report as a page to read, for signed-in members of its builder. The region is that of the session,
 * as the browser sends no header. Part 2 of the decisions.
 */
export async function registerReportPages(app: FastifyInstance, parts: ReportPagesParts): Promise<void> {
  const { databases, storages, baseUrl } = parts;
  const policy = [
    ...["default-src 'none'", "style-src 'self'", `img-src 'self' ${new URL(baseUrl).origin}`],
    ...["form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"],
  ].join('; ');
  await app.register(async (pages) => {
    pages.setErrorHandler((thrown, request, reply) => {
      const error = asApiError(thrown);
      if (error.status >= 500) request.log.error({ err: error.cause ?? error }, error.message);
      const [title, message] =
        error.status === 429
          ? ['Too many requests', 'Wait a little, then try again.']
          : ['Something went wrong', 'It is not your fault. Wait a little, then try again.'];
      return sendError(request, reply.headers(error.headers), error.status, title, message);
    });
    pages.get(STYLESHEET, async (_request, reply) =>
      reply
        .headers({ 'Content-Type': 'text/css; charset=utf-8', 'Cache-Control': 'public, max-age=31536000, immutable' })
        .send(STYLES),
    );
    pages.get('/reports/:photoReportId', async (request, reply) => {
      reply.headers({
        'Cache-Control': 'no-store',
        'Referrer-Policy': 'no-referrer',
        'X-Content-Type-Options': 'nosniff',
      });
      await parts.limitVisitor(request, reply);
      const { photoReportId } = request.params as { photoReportId: string };
      const visitors = await visitorsOf(request, parts);
      if (visitors.length === 0) {
        const message = 'This page is for members of the builder who have signed in. Sign in, then open it again.';
        return sendError(request, reply, 401, 'Sign in first', message);
      }
      for (const { region, user } of idPattern('photoReport').test(photoReportId) ? visitors : []) {
        const view = await findView(databases[region], storages, photoReportId, user);
        if (!view) continue;
        return reply
          .headers({
            'Content-Type': 'text/html; charset=utf-8',
            'Content-Security-Policy': policy,
            'X-Frame-Options': 'DENY',
          })
          .send(renderReport(view, STYLESHEET));
      }
      return sendError(
        request,
        reply,
        404,
        'Not found',
        'There is no such report, or it is of a builder that is not yours.',
      );
    });
  });
}

function sendError(request: FastifyRequest, reply: FastifyReply, status: number, title: string, message: string) {
  return sendPage(reply, status, errorPage({ title, message, detail: null, requestId: request.id, again: null }));
}

/** Who has signed in in the browser, in each region. */
async function visitorsOf(
  request: FastifyRequest,
  { databases, clock, baseUrl }: ReportPagesParts,
): Promise<Visitor[]> {
  const secure = baseUrl.startsWith('https:');
  const found = await Promise.all(
    REGIONS.map(async (region) => {
      const user = await findSignedIn(databases[region], readBrowserId(request, region, secure), clock.now());
      return user && { region, user };
    }),
  );
  return found.filter((visitor) => visitor !== null);
}

/** The report, if the user is a member of its builder. */
async function findView(
  database: Database,
  storages: Storages,
  id: string,
  user: SignedInUser,
): Promise<ReportView | null> {
  const [member] = await database.runner.run(IS_MEMBER, [id, user.id]);
  if (!member) return null;
  const [report, stored] = await Promise.all([photoReports.one(database, id), reportContents.one(database, id)]);
  if (!report || !stored) return null;
  const tree = readTree(stored as unknown as StoredContent);
  const ids = imagesOf(tree);
  const { builderId, projectId } = report;
  const [shown, project] = await Promise.all([
    photos.many(database, ids, { builderId }),
    projectId === null ? null : projects.one(database, projectId, { builderId }),
  ]);
  const signed = shown
    .filter((photo) => photo !== null)
    .map(({ id: photoId, key, contentType, fileName }) => {
      return [photoId, storages[database.region].downloadUrl(key, contentType, fileName)] as const;
    });
  return { report, tree, projectName: project?.name ?? null, imageUrls: new Map(signed) };
}

/** Attachment ids of the images of a tree. */
function imagesOf({ blocks }: ReportPage): string[] {
  return blocks.flatMap((block) => {
    if ('childPage' in block) return imagesOf(block.childPage as ReportPage);
    return 'imageStatus' in block && block.attachmentId !== null ? [block.attachmentId] : [];
  });
}

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { isCleanText } from '../../../schema/text.ts';
import { toApiError } from '../../database/errors.ts';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { OAuthError } from '../errors.ts';
import { decodeUtf8, parseFormPairs } from '../parameters.ts';
import { incompleteForm, PageError } from './page-error.ts';
import { createErrorPage } from './pages/error.page.ts';
import { sendPage } from './send-page.ts';

/** Maximum size of a form in bytes: an e-mail address, a password and a few short fields. */
const FORM_LIMIT = 16 * 1024;

/**
 * Sets the form parser, headers, rate limit and error handler of a plugin that serves pages.
 *
 * @param retryUrlOf returns the URL at which a failed request can be tried again; null when there is none
 */
export function configurePages(
  app: FastifyInstance,
  limitPageRequest: OAuthDependencies['limitPageRequest'],
  retryUrlOf: (request: FastifyRequest) => string | null,
): void {
  app.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer', bodyLimit: FORM_LIMIT } as const;
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    options,
    async (_request: FastifyRequest, body: Buffer) => parseFields(body),
  );
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    });
    await limitPageRequest?.(request);
  });
  app.setErrorHandler((thrown: FastifyError, request, reply) => {
    const error = toPageError(thrown, request, reply);
    return sendPage(
      reply,
      error.status,
      createErrorPage(error, request.id, error.isRetryable ? retryUrlOf(request) : null),
    );
  });
}

type PageHandler<Page> = (page: Page) => Promise<FastifyReply> | FastifyReply;

/**
 * Registers the routes of pages by path; every other method gets 405.
 *
 * @param toHandler returns the route handler of a page's handler
 */
export function registerPages<Page>(
  app: FastifyInstance,
  toHandler: (handle: PageHandler<Page>) => RouteHandlerMethod,
  pages: Record<string, Partial<Record<'get' | 'post', PageHandler<Page>>>>,
): void {
  for (const [path, { get, post }] of Object.entries(pages)) {
    if (get) app.get(path, toHandler(get));
    if (post) app.post(path, toHandler(post));
  }
  rejectOtherMethods(app, Object.keys(pages));
}

/** Parses the fields of a form; throws a 400 page for a repeated field. */
function parseFields(body: Buffer): Map<string, string> {
  const pairs = parseFormPairs(decodeUtf8(body));
  const fields = new Map(pairs);
  if (fields.size !== pairs.length || !pairs.flat().every(isCleanText)) throw incompleteForm();
  return fields;
}

/** Returns the error that the page shows, and sets its headers. Logs internal errors. */
function toPageError(thrown: FastifyError, request: FastifyRequest, reply: FastifyReply): PageError {
  if (thrown instanceof PageError) return thrown;
  if (thrown instanceof OAuthError) {
    const message =
      'The application that sent you here made an invalid request. Go back and try again, or contact its developers.';
    return new PageError(thrown.status, 'This link does not work', message, false, thrown.message);
  }
  if (thrown.code?.startsWith('FST_ERR_CTP_')) return incompleteForm();
  const error = toApiError(thrown);
  if (error.status >= 500) request.log.error({ err: error.cause ?? error }, error.message);
  reply.headers(error.headers);
  if (error.status === 429) return new PageError(429, 'Too many requests', 'Wait a little, then try again.', true);
  const message = 'This is a problem on our side. Wait a little, then try again.';
  return new PageError(error.status, 'Something went wrong', message, true);
}

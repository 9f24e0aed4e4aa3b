import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { isCleanText } from '../../../schema/scalars.ts';
import { toApiError } from '../../database/errors.ts';
import { ApiError } from '../../shared/errors.ts';
import type { OAuthDependencies } from '../dependencies.ts';
import { OAuthError } from '../errors.ts';
import { formPairs, readText } from '../parameters.ts';
import { step } from './authorization-interaction.ts';
import { askUser, decide } from './authorize.ts';
import { incompleteForm, PageError } from './page-error.ts';
import { serveAssets } from './pages/assets.ts';
import { errorPage } from './pages/error.ts';
import { signedOutPage } from './pages/signed-out.ts';
import { sendPage } from './send-page.ts';
import { signIn, signOut } from './sign-in.ts';

/** Bytes of a form: an e-mail, a password and a few short fields. */
const FORM_LIMIT = 16 * 1024;

/** The pages that people see. They need no script, and no cookie beyond one. */
export function pagesPlugin(parts: OAuthDependencies): FastifyPluginAsync {
  return async (app) => {
    preparePages(app, parts.limitVisitor, startOf);
    app.addHook('onRequest', async ({ url }) => requireReadableQuery(url));
    serveAssets(app);
    app.get('/oauth/authorize', step(parts, askUser));
    app.post('/oauth/authorize', step(parts, decide));
    app.post('/oauth/sign-in', step(parts, signIn));
    app.post('/oauth/sign-out', step(parts, signOut));
    // What a form led to, opened again by its address.
    app.get('/oauth/sign-in', async (request, reply) => reply.redirect(startOf(request) ?? '/oauth/authorize', 303));
    app.get('/oauth/signed-out', async (request, reply) => sendPage(reply, 200, signedOutPage(startOf(request))));
    refuseOtherMethods(app, {
      '/oauth/authorize': 'GET, POST',
      '/oauth/sign-in': 'GET, POST',
      '/oauth/sign-out': 'POST',
    });
  };
}

/**
 * Forms, headers, budget and errors of pages.
 *
 * @param again where another try of a request that failed begins; null where there is none.
 */
export function preparePages(
  app: FastifyInstance,
  limitVisitor: OAuthDependencies['limitVisitor'],
  again: (request: FastifyRequest) => string | null,
): void {
  app.removeAllContentTypeParsers();
  const options = { parseAs: 'buffer', bodyLimit: FORM_LIMIT } as const;
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    options,
    async (_request: FastifyRequest, body: Buffer) => readFields(body),
  );
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    });
    await limitVisitor?.(request, reply);
  });
  app.setErrorHandler((thrown: FastifyError, request, reply) => sendErrorPage(thrown, request, reply, again(request)));
}

/** Fields of one of our own forms; each is sent once. */
function readFields(body: Buffer): Map<string, string> {
  const pairs = formPairs(readText(body));
  const fields = new Map(pairs);
  if (fields.size !== pairs.length || !pairs.flat().every(isCleanText)) throw incompleteForm();
  return fields;
}

function sendErrorPage(
  thrown: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  start: string | null,
): FastifyReply {
  const { status, headers, again, ...texts } = describe(thrown, request);
  const page = errorPage({ ...texts, requestId: request.id, again: again ? start : null });
  return sendPage(reply.headers(headers), status, page);
}

/** What is shown of an error, and whether another try may help. */
function describe(thrown: FastifyError, request: FastifyRequest) {
  const shared = { headers: {} as Record<string, string>, detail: null as string | null };
  if (thrown instanceof PageError) {
    const { status, title, message, again } = thrown;
    return { ...shared, status, title, message, again };
  }
  if (thrown instanceof OAuthError) {
    const [title, message] = [
      'This link does not work',
      'The application that sent you here did not say correctly who it is or where to send you back. Go back to it and try again, or tell its makers.',
    ];
    const { status, headers, message: detail } = thrown;
    return { status, headers, detail, title, message, again: false };
  }
  if (thrown.code?.startsWith('FST_ERR_CTP_')) {
    const { status, title, message, again } = incompleteForm();
    return { ...shared, status, title, message, again };
  }
  const error = toApiError(thrown);
  if (error.status >= 500) request.log.error({ err: error.cause ?? error }, error.message);
  return { ...shared, ...textOf(error), status: error.status, headers: error.headers, again: true };
}

function textOf(error: ApiError): { title: string; message: string } {
  if (error.status === 429) return { title: 'Too many requests', message: 'Wait a little, then try again.' };
  return { title: 'Something went wrong', message: 'It is not your fault. Wait a little, then try again.' };
}

/** Throws an error page for a query with too many parameters, or one that is not form data. */
function requireReadableQuery(url: string): void {
  const at = url.indexOf('?');
  if (at >= 0) formPairs(url.slice(at + 1));
}

/** Where the authorization request of this address begins; null without one. The path is ours whatever the query holds. */
function startOf(request: FastifyRequest): string | null {
  const at = request.url.indexOf('?');
  return at < 0 ? null : `/oauth/authorize${request.url.slice(at)}`;
}

/** 405 for the methods that these paths do not have. */
export function refuseOtherMethods(app: FastifyInstance, allowed: Record<string, string>): void {
  for (const [url, allow] of Object.entries(allowed)) {
    const method = app.supportedMethods.filter((name) => !/^(HEAD|OPTIONS)$/.test(name) && !allow.includes(name));
    const refuse = async () => {
      throw new ApiError(405, 'METHOD_NOT_ALLOWED', `This path allows ${allow}.`, { headers: { Allow: allow } });
    };
    app.route({ method, url, exposeHeadRoute: false, onRequest: refuse, handler: refuse });
  }
}

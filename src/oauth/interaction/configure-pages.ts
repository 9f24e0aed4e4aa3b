import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { isCleanText } from '../../../schema/json-problems.ts';
import { toApiError } from '../../database/errors.ts';
import type { ApiError } from '../../shared/errors.ts';
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
    const { status, headers, isRetryable, ...texts } = describeError(thrown, request);
    const retryUrl = isRetryable ? retryUrlOf(request) : null;
    const page = createErrorPage({ ...texts, requestId: request.id, retryUrl });
    return sendPage(reply.headers(headers), status, page);
  });
}

/** Parses the fields of a form; throws a 400 page for a repeated field. */
function parseFields(body: Buffer): Map<string, string> {
  const pairs = parseFormPairs(decodeUtf8(body));
  const fields = new Map(pairs);
  if (fields.size !== pairs.length || !pairs.flat().every(isCleanText)) throw incompleteForm();
  return fields;
}

interface ErrorDescription {
  status: number;
  headers: Record<string, string>;
  title: string;
  message: string;
  /** For the developers of the client. */
  detail: string | null;
  isRetryable: boolean;
}

/** Returns what the error page says. Logs internal errors. */
function describeError(thrown: FastifyError, request: FastifyRequest): ErrorDescription {
  if (thrown instanceof PageError) return describePageError(thrown);
  if (thrown instanceof OAuthError) {
    return {
      ...{ status: thrown.status, headers: thrown.headers, detail: thrown.message, isRetryable: false },
      title: 'This link does not work',
      message:
        'The application that sent you here made an invalid request. Go back and try again, or contact its developers.',
    };
  }
  if (thrown.code?.startsWith('FST_ERR_CTP_')) return describePageError(incompleteForm());
  const error = toApiError(thrown);
  const { status, headers } = error;
  if (status >= 500) request.log.error({ err: error.cause ?? error }, error.message);
  return { status, headers, detail: null, isRetryable: true, ...toTexts(error) };
}

const describePageError = ({ status, title, message, isRetryable }: PageError): ErrorDescription => ({
  ...{ status, title, message, isRetryable },
  ...{ headers: {}, detail: null },
});

function toTexts({ status }: ApiError): { title: string; message: string } {
  if (status === 429) return { title: 'Too many requests', message: 'Wait a little, then try again.' };
  return { title: 'Something went wrong', message: 'This is a problem on our side. Wait a little, then try again.' };
}

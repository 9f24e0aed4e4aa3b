import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { idPattern } from '../../schema/ids.ts';
import { MAX_ATTACHMENT_BYTES } from '../../schema/scalars.ts';
import type { AuthenticatedRequest, RequestAuthenticator } from '../auth/request-authenticator.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { type RequestSteps, toRoute } from '../auth/request-pipeline.ts';
import { discard } from '../domain/uploads/prepare-image.ts';
import { requireQuota } from '../domain/uploads/quota.ts';
import { findTypeErrors, recordUploads, toStoredType } from '../domain/uploads/uploads.ts';
import { rejectOtherMethods } from '../http/method-not-allowed.ts';
import { UploadRoom } from '../http/storage/upload-room.ts';
import { detectImageType } from '../images/inspect.ts';
import { ApiError, type FieldErrors, notFound, payloadTooLarge } from '../shared/errors.ts';
import { createUploadKey } from '../storage/keys.ts';
import {
  type Form,
  type FormFile,
  type FormOptions,
  installMultipart,
  MAX_OVERHEAD_BYTES,
  withForm,
} from './multipart.ts';
import { createRestContext } from './plugin.ts';

/** Maximum files of one bulk upload (UPL-11). */
export const MAX_BULK_FILES = 25;
/** Field names of the file of a single upload. The name of the type is independent of it: `file` with `type:0` is a complete form. */
const SINGLE_FILE = ['file', 'file:0'];
const BULK_FILE = /^file:(\d|1\d|2[0-4])$/;

const UPLOAD = '/builders/:builderId/attachments/upload';
const BULK_UPLOAD = '/builders/:builderId/attachments/bulk-upload';

/** Registers the multipart uploads (UPL-10, UPL-11). */
export async function registerUploads(
  app: FastifyInstance,
  { authenticator }: { authenticator: RequestAuthenticator },
): Promise<void> {
  const uploadSteps: Omit<RequestSteps<AuthenticatedRequest, string, object>, 'execute'> = {
    authenticate: authenticator.authenticate,
    createContext: createRestContext(authenticator, null, null),
    async authorize(request, context) {
      const { builderId } = request.params as { builderId: string };
      if (!idPattern('builder').test(builderId)) throw notFound('Builder');
      await context.authorize({}, builderId);
      await requireQuota(context, getContentLength(request));
    },
    // The form is read in `execute`, which deletes its files.
    parseInput: ({ params }) => (params as { builderId: string }).builderId,
    respond: (body, _builderId, _request, reply) => reply.code(201).send(body),
  };
  await app.register(async (scope) => {
    const single = toRoute({
      ...uploadSteps,
      async execute(builderId, request, reply) {
        const options = { maxFiles: 1, isFile: (name: string) => SINGLE_FILE.includes(name) };
        const [upload] = await receiveForm(request, reply, options, (form) => {
          requireFiles(form, [form.files[0]?.fieldName ?? 'file'], () => ['type:0', 'type']);
          return storeFiles(request.context!, builderId, form);
        });
        const { fieldName: _, ...body } = upload!;
        return body;
      },
    });
    const bulk = toRoute({
      ...uploadSteps,
      async execute(builderId, request, reply) {
        const options = { maxFiles: MAX_BULK_FILES, isFile: (name: string) => BULK_FILE.test(name) };
        const uploads = await receiveForm(request, reply, options, (form) => {
          const names = form.files.map(({ fieldName }) => fieldName);
          requireFiles(form, names.length > 0 ? names : ['file:0'], (name) => ['type', name.replace('file', 'type')]);
          const getIndex = ({ fieldName }: FormFile) => Number(fieldName.split(':')[1]);
          const files = form.files.toSorted((one, other) => getIndex(one) - getIndex(other));
          return storeFiles(request.context!, builderId, { ...form, files });
        });
        return { uploads };
      },
    });
    // Before the check of the media type.
    scope.addHook('onRequest', single.onRequest);
    await installMultipart(scope);
    scope.post(UPLOAD, { config: { chargesShare: true } }, single.handler);
    scope.post(BULK_UPLOAD, { config: { chargesShare: true } }, bulk.handler);
  });
  rejectOtherMethods(app, [UPLOAD, BULK_UPLOAD], (request, reply) => authenticator.authenticate(request, reply));
}

/** Waits for room for the upload, then reads its form. The room of a body without a length grows before each file. */
async function receiveForm<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  options: Pick<FormOptions, 'maxFiles' | 'isFile'>,
  handle: (form: Form) => Promise<T>,
): Promise<T> {
  const { shares, shareKey, storage } = request.context!;
  const declaredBytes = getContentLength(request);
  const limit = options.maxFiles * MAX_ATTACHMENT_BYTES + MAX_OVERHEAD_BYTES;
  if (declaredBytes > limit) throw payloadTooLarge(limit);
  const room = new UploadRoom(shares.transfers, shareKey, reply);
  await room.reserve(declaredBytes);
  const reserveFile = (receivedBytes: number) =>
    declaredBytes > 0 ? Promise.resolve() : room.reserve(receivedBytes + MAX_ATTACHMENT_BYTES);
  return withForm(request, storage.spool, { ...options, shareKey, reserveFile }, handle);
}

/** Returns the Content-Length, 0 where there is none. The overhead of the form's parts is negligible. */
const getContentLength = ({ headers }: FastifyRequest): number => Number(headers['content-length'] ?? 0) || 0;

/** Adds an error unless the form has every named file, each with the type `attachment` in one of the fields that may hold it. */
function requireFiles({ fields, files, errors }: Form, names: string[], typesOf: (name: string) => string[]): void {
  for (const name of names) {
    if (!files.some(({ fieldName }) => fieldName === name)) errors.addNew({ fieldName: name, message: 'is required' });
    const types = typesOf(name);
    const declaredTypes = types.filter((type) => fields.has(type));
    const wrong =
      declaredTypes.find((type) => fields.get(type) !== 'attachment') ??
      (declaredTypes.length === 0 ? types.at(-1) : null);
    if (wrong) errors.addNew({ fieldName: wrong, message: 'must be attachment' });
  }
}

/**
 * Stores all files and records their keys, or none of them. Returns the upload references. Throws 400 with every error of the form and
 * of the types of its files.
 */
async function storeFiles(context: RequestContext, builderId: string, { files, errors }: Form) {
  const { storage, region } = context;
  if (await context.renewCaller()) await context.authorize({}, builderId);
  const uploads: (FormFile & { key: string })[] = [];
  for (const file of files) {
    const contentType = await detectContentType(file, errors);
    uploads.push({ ...file, key: createUploadKey(builderId), contentType });
  }
  errors.throwIfAny();
  for (const { key, path, contentType } of uploads) await storage.byteStore.put(key, path, contentType);
  try {
    await recordUploads(context, builderId, uploads, null);
  } catch (error) {
    // After any other error the uploads may be recorded, and need their bytes.
    if (error instanceof ApiError) await discard(storage, ...uploads.map(({ key }) => key));
    throw error;
  }
  return uploads.map(({ fieldName, fileName, key, contentType }) => ({
    fieldName,
    key,
    regionId: region,
    type: 'attachment',
    fileName,
    contentType,
    imageUrl: storage.createDownloadUrl(key, contentType, fileName),
  }));
}

/** Media types of files without a declared one. The parser returns `text/plain` for a part without a Content-Type. */
const UNDECLARED_TYPES = ['application/octet-stream', 'text/plain'];

/** Returns the declared media type; the detected one where the client declared none. Adds an error unless it is an image type. */
async function detectContentType({ contentType, path, fieldName }: FormFile, errors: FieldErrors): Promise<string> {
  if (!UNDECLARED_TYPES.includes(contentType)) {
    errors.addNew(...findTypeErrors(fieldName, contentType));
    return toStoredType(contentType);
  }
  const detected = await detectImageType(path);
  if (!detected) errors.addNew({ fieldName, message: 'is not an image of an accepted type' });
  return detected ?? contentType;
}

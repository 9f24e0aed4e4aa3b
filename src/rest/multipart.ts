import type { IncomingMessage } from 'node:http';
import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { MAX_ATTACHMENT_BYTES, requireFileName } from '../../schema/scalars.ts';
import { isCleanText } from '../../schema/text.ts';
import { ApiError, FieldErrors, invalidField, payloadTooLarge, unsupportedMediaType } from '../shared/errors.ts';
import { SizeLimitError, type Spool, type SpooledFile } from '../storage/spool.ts';

/** A file part, stored in the spool. */
export interface FormFile {
  fieldName: string;
  fileName: string;
  /** Media type that the part declares. */
  contentType: string;
  path: string;
  size: number;
}

export interface Form {
  /** The value of a field that is no short text is empty. */
  fields: Map<string, string>;
  /** With those of fields that have errors. */
  files: FormFile[];
  errors: FieldErrors;
}

export interface FormOptions {
  /** Share of the caller. */
  shareKey: string;
  maxFiles: number;
  /** Whether the field of that name has to be a file. */
  isFile: (name: string) => boolean;
  /** Waits until another file may be received, after so many bytes of files. */
  reserveFile: (receivedBytes: number) => Promise<void>;
}

/** Maximum fields that are not files, and maximum bytes of names and values. */
const LIMITS = { fields: 60, fieldNameSize: 100, fieldSize: 1_000, headerPairs: 50 };
/** Maximum bytes of a form beside those of its files. They are not paced (LIM-29). */
export const MAX_OVERHEAD_BYTES = 1024 * 1024;

/** Accepts multipart forms in this scope and rejects every other media type with 415. */
export async function installMultipart(scope: FastifyInstance): Promise<void> {
  scope.removeAllContentTypeParsers();
  await scope.register(multipart, { preservePath: true });
  scope.addHook('onRequest', async ({ headers }) => {
    if (!/^multipart\/form-data *(;|$)/i.test(headers['content-type'] ?? '')) {
      throw unsupportedMediaType('multipart/form-data');
    }
  });
}

/**
 * Reads a form with its fields in any order and calls the function with it. Files are streamed to the spool, and deleted afterwards in
 * any case.
 */
export async function withForm<T>(
  request: FastifyRequest,
  spool: Spool,
  options: FormOptions,
  handle: (form: Form) => Promise<T>,
): Promise<T> {
  const form: Form = { fields: new Map(), files: [], errors: new FieldErrors() };
  try {
    // A client may send slowly: meanwhile other requests of its share are executed.
    await request.usage!.runWithReleasablePermit((release) => {
      release();
      return readForm(request, spool, options, form);
    });
    return await handle(form);
  } finally {
    for (const { path } of form.files) await spool.discard(path);
  }
}

async function readForm(
  request: FastifyRequest,
  spool: Spool,
  { shareKey, maxFiles, isFile, reserveFile }: FormOptions,
  form: Form,
): Promise<void> {
  const reject: Reject = (fieldName, message) => form.errors.addNew({ fieldName, message });
  // One more file, to name its field.
  const files = maxFiles + 1;
  const limits = { ...LIMITS, files, parts: LIMITS.fields + files, fileSize: MAX_ATTACHMENT_BYTES + 1 };
  const names = new Set<string>();
  const streams: MultipartFile['file'][] = [];
  const removeLimit = limitOverhead(request.raw, streams);
  try {
    for await (const part of request.parts({ limits })) {
      const name = requireName(part);
      if (names.has(name)) reject(name, 'must be given once');
      names.add(name);
      if (part.type === 'field') readField(part, name, form, reject);
      else {
        if (streams.length === maxFiles) {
          reject(name, `is one file too many: the form may have at most ${maxFiles}`);
          form.errors.throwIfAny();
        }
        streams.push(part.file);
        if (!isFile(name)) reject(name, 'is not a file of this operation');
        await reserveFile(form.files.reduce((bytes, { size }) => bytes + size, 0));
        const received = await spool.receive(part.file, MAX_ATTACHMENT_BYTES, { shareKey });
        addFile(part, name, received, form, reject);
      }
    }
  } catch (error) {
    throw toFormError(error);
  } finally {
    removeLimit();
    // After an error the parser would read the rest of the body, however long it is.
    request.raw.unpipe();
  }
}

/**
 * Ends the form with 413 once its bytes beside those of files exceed the limit, wherever they are: in texts, in headers, or before the
 * first part. Returns a function that removes the limit.
 */
function limitOverhead(raw: IncomingMessage, files: readonly MultipartFile['file'][]): () => void {
  let received = 0;
  const count = (chunk: Buffer) => {
    // The parser has counted the bytes of files in the chunks before this one.
    const overhead = received - files.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    received += chunk.length;
    if (overhead <= MAX_OVERHEAD_BYTES) return;
    raw.off('data', count);
    // The parser stops at an error of its source. Destroying the source would close the connection before the response.
    raw.emit('error', formTooLarge(`A form may have at most ${MAX_OVERHEAD_BYTES} bytes beside its files.`));
  };
  raw.on('data', count);
  return () => raw.off('data', count);
}

function requireName({ fieldname }: MultipartFile | MultipartValue): string {
  if (typeof fieldname === 'string' && fieldname.length < LIMITS.fieldNameSize && isCleanText(fieldname))
    return fieldname;
  throw invalidField('body', `must name every part, in less than ${LIMITS.fieldNameSize} bytes`);
}

type Reject = (fieldName: string, message: string) => void;

function readField(part: MultipartValue, name: string, { fields }: Form, reject: Reject): void {
  if (/^(type|file)(:\d+)?\[/.test(name)) reject(name, 'must be named without brackets');
  const isShortText = typeof part.value === 'string' && !part.valueTruncated && isCleanText(part.value);
  if (!isShortText) reject(name, 'is no short text');
  fields.set(name, isShortText ? (part.value as string) : '');
}

function addFile(
  { filename, mimetype }: MultipartFile,
  name: string,
  received: SpooledFile,
  { files }: Form,
  reject: Reject,
): void {
  files.push({ ...received, fieldName: name, fileName: filename, contentType: mimetype });
  if (received.size === 0) reject(name, 'must not be empty');
  try {
    requireFileName(filename);
  } catch (error) {
    reject(name, `has a wrong file name: it ${(error as TypeError).message}`);
  }
}

const LIMIT_CODES = ['FST_FILES_LIMIT', 'FST_FIELDS_LIMIT', 'FST_PARTS_LIMIT', 'FST_REQ_FILE_TOO_LARGE'];

const formTooLarge = (message: string) => new ApiError('PAYLOAD_TOO_LARGE', message);

/** Returns the client error for an error of the parser; errors of the file system are returned as they are. */
function toFormError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  if (error instanceof SizeLimitError) return payloadTooLarge(MAX_ATTACHMENT_BYTES);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (LIMIT_CODES.includes(code ?? '')) {
    return formTooLarge('The form has too many parts.');
  }
  return syscall === undefined ? invalidField('body', 'must be a valid multipart form') : error;
}

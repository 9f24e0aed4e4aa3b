import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isCleanText, MAX_ATTACHMENT_BYTES } from '../../schema/scalars.ts';
import {
  ApiError,
  type FieldError,
  invalidField,
  payloadTooLarge,
  unsupportedMediaType,
  ValidationError,
} from '../shared/errors.ts';
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
  fields: Map<string, string>;
  files: FormFile[];
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
const MAX_FILE_NAME = 255;

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
  const form: Form = { fields: new Map(), files: [] };
  try {
    // A client may send slowly: meanwhile other requests of its share are executed.
    await request.usage!.runWithoutPermit((release) => {
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
  const errors: FieldError[] = [];
  const reject = (fieldName: string, message: string) => errors.push({ fieldName, message });
  const limits = { ...LIMITS, files: maxFiles, parts: LIMITS.fields + maxFiles, fileSize: MAX_ATTACHMENT_BYTES + 1 };
  const names = new Set<string>();
  try {
    for await (const part of request.parts({ limits })) {
      const name = requireName(part);
      if (names.has(name)) reject(name, 'must be given once');
      names.add(name);
      if (part.type === 'field') readField(part, name, form, reject);
      else if (isFile(name)) {
        await reserveFile(form.files.reduce((bytes, { size }) => bytes + size, 0));
        const received = await spool.receive(part.file, MAX_ATTACHMENT_BYTES, { shareKey });
        addFile(part, name, received, form, reject);
      } else {
        reject(name, 'is not a file of this operation');
        part.file.resume();
      }
    }
  } catch (error) {
    throw toFormError(error);
  }
  if (errors.length > 0) throw new ValidationError(errors);
}

function requireName({ fieldname }: MultipartFile | MultipartValue): string {
  if (typeof fieldname === 'string' && fieldname.length < LIMITS.fieldNameSize && isCleanText(fieldname))
    return fieldname;
  throw invalidField('body', `must name every part, in less than ${LIMITS.fieldNameSize} bytes`);
}

type Reject = (fieldName: string, message: string) => void;

function readField(part: MultipartValue, name: string, { fields }: Form, reject: Reject): void {
  if (typeof part.value !== 'string' || part.valueTruncated || !isCleanText(part.value))
    reject(name, 'is no short text');
  else fields.set(name, part.value);
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
  const length = [...filename].length;
  if (length < 1 || length > MAX_FILE_NAME) reject(name, `must have a file name of 1 to ${MAX_FILE_NAME} characters`);
  else if (/[/\\\p{Cc}]/u.test(filename) || !isCleanText(filename) || /^\.\.?$/.test(filename)) {
    reject(name, 'must have a file name without a path or control characters');
  }
}

const LIMIT_CODES = ['FST_FILES_LIMIT', 'FST_FIELDS_LIMIT', 'FST_PARTS_LIMIT', 'FST_REQ_FILE_TOO_LARGE'];

/** Returns the client error for an error of the parser; errors of the file system are returned as they are. */
function toFormError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  if (error instanceof SizeLimitError) return payloadTooLarge(MAX_ATTACHMENT_BYTES);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (LIMIT_CODES.includes(code ?? '')) {
    return new ApiError(413, 'PAYLOAD_TOO_LARGE', 'The form has too many parts.');
  }
  return syscall === undefined ? invalidField('body', 'must be a valid multipart form') : error;
}

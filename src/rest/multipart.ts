import multipart, { type MultipartFile, type MultipartValue } from '@fastify/multipart';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isCleanText } from '../../schema/scalars.ts';
import {
  ApiError,
  type FieldError,
  invalidField,
  payloadTooLarge,
  unsupportedMediaType,
  ValidationError,
} from '../shared/errors.ts';
import { SizeLimitError, type Spool } from '../storage/spool.ts';
import { MAX_ATTACHMENT_BYTES } from '../storage/storage.ts';

/** A file of a form, on its way to the storage. */
export interface FormFile {
  fieldName: string;
  fileName: string;
  /** As the part declares it. */
  contentType: string;
  path: string;
  size: number;
}

export interface Form {
  fields: Map<string, string>;
  files: FormFile[];
}

/** Most fields that are no files; the longest name and value in bytes. */
const LIMITS = { fields: 60, fieldNameSize: 100, fieldSize: 1_000, headerPairs: 50 };
const MAX_FILE_NAME = 255;

/** Takes multipart forms in this scope, and no other body. */
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
 * Reads a form, its fields in any order, and writes each file to the spool as it comes: never a whole file in memory. The
 * work has the files; afterwards they are gone. Nothing stays of a form that is refused.
 *
 * @param isFile whether a field of that name is to hold a file.
 */
export async function withForm<T>(
  request: FastifyRequest,
  spool: Spool,
  options: { maxFiles: number; isFile: (name: string) => boolean },
  work: (form: Form) => Promise<T>,
): Promise<T> {
  const form: Form = { fields: new Map(), files: [] };
  try {
    await readForm(request, spool, options, form);
    return await work(form);
  } finally {
    for (const { path } of form.files) await spool.discard(path);
  }
}

async function readForm(
  request: FastifyRequest,
  spool: Spool,
  { maxFiles, isFile }: { maxFiles: number; isFile: (name: string) => boolean },
  form: Form,
): Promise<void> {
  const errors: FieldError[] = [];
  const refuse = (fieldName: string, message: string) => errors.push({ fieldName, message });
  const limits = { ...LIMITS, files: maxFiles, parts: LIMITS.fields + maxFiles, fileSize: MAX_ATTACHMENT_BYTES + 1 };
  const seen = new Set<string>();
  try {
    for await (const part of request.parts({ limits })) {
      const name = nameOf(part);
      if (seen.has(name)) refuse(name, 'must be given once');
      seen.add(name);
      if (part.type === 'field') readField(part, name, form, refuse);
      else if (isFile(name)) await readFile(part, name, spool, form, refuse);
      else {
        refuse(name, 'is not a file of this operation');
        part.file.resume();
      }
    }
  } catch (error) {
    throw formError(error);
  }
  if (errors.length > 0) throw new ValidationError(errors);
}

function nameOf({ fieldname }: MultipartFile | MultipartValue): string {
  if (typeof fieldname === 'string' && fieldname.length < LIMITS.fieldNameSize && isCleanText(fieldname))
    return fieldname;
  throw invalidField('body', `must name every part, in less than ${LIMITS.fieldNameSize} bytes`);
}

type Refuse = (fieldName: string, message: string) => void;

function readField(part: MultipartValue, name: string, { fields }: Form, refuse: Refuse): void {
  if (typeof part.value !== 'string' || part.valueTruncated || !isCleanText(part.value))
    refuse(name, 'is no short text');
  else fields.set(name, part.value);
}

async function readFile(
  part: MultipartFile,
  name: string,
  spool: Spool,
  { files }: Form,
  refuse: Refuse,
): Promise<void> {
  const { filename, mimetype } = part;
  const received = await spool.receive(part.file, MAX_ATTACHMENT_BYTES);
  files.push({ ...received, fieldName: name, fileName: filename, contentType: mimetype });
  if (received.size === 0) refuse(name, 'must not be empty');
  const length = [...filename].length;
  if (length < 1 || length > MAX_FILE_NAME) refuse(name, `must have a file name of 1 to ${MAX_FILE_NAME} characters`);
  else if (/[/\\\p{Cc}]/u.test(filename) || !isCleanText(filename) || /^\.\.?$/.test(filename)) {
    refuse(name, 'must have a file name without a path or control characters');
  }
}

const TOO_MUCH = ['FST_FILES_LIMIT', 'FST_FIELDS_LIMIT', 'FST_PARTS_LIMIT', 'FST_REQ_FILE_TOO_LARGE'];

/** What the parser of forms says, in our words; a fault of the disk stays what it is. */
function formError(error: unknown): unknown {
  if (error instanceof ApiError) return error;
  if (error instanceof SizeLimitError) return payloadTooLarge(MAX_ATTACHMENT_BYTES);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (TOO_MUCH.includes(code ?? '')) {
    return new ApiError(413, 'PAYLOAD_TOO_LARGE', 'The form has too many parts.');
  }
  return syscall === undefined ? invalidField('body', 'must be a valid multipart form') : error;
}

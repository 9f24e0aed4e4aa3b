import type { GraphQLScalarType } from 'graphql';
import { AttachmentType } from '../../../../schema/enums.ts';
import { StorageKey } from '../../../../schema/photo.scalars.ts';
import type { JsonSchema } from '../../../../schema/scalar.ts';
import { BuilderId, MAX_ATTACHMENT_BYTES } from '../../../../schema/scalars.ts';
import { REGIONS } from '../../../shared/regions.ts';
import { SIGNED_URL_SECONDS } from '../../../storage/storage.ts';
import { MAX_BULK_FILES } from '../../uploads.ts';
import { createUnselectedExample } from '../parameters.ts';
import { createErrorSchema, describeHeaders, describeJsonResponse, LIMIT_HEADERS, referToError } from '../responses.ts';
import { getScalarSchema, referToSchema, toObjectSchema } from '../schemas.ts';
import type { ManualOperation } from './manual-operation.ts';

const MIB = 1024 * 1024;
const MINUTES = SIGNED_URL_SECONDS / 60;

const getScalarExample = (scalar: GraphQLScalarType) => (getScalarSchema(scalar).examples as string[])[0];

const parameter = (location: 'path' | 'query', name: string, keywords: object) => ({
  name,
  in: location,
  required: true,
  ...keywords,
});
const builderId = parameter('path', 'builderId', {
  schema: getScalarSchema(BuilderId),
  example: getScalarExample(BuilderId),
});

/** Returns a multipart request body whose schema has these keywords. */
const multipartBody = (keywords: JsonSchema, example: object) => ({
  required: true,
  content: { 'multipart/form-data': { schema: { type: 'object', ...keywords }, example } },
});

const fileSchema = {
  type: 'string',
  format: 'binary',
  description: `An image of at most ${MAX_ATTACHMENT_BYTES / MIB} MiB.`,
};
const typeSchema = { type: 'string', enum: Object.values(AttachmentType), description: 'Purpose of the upload.' };

/** The multipart uploads (UPL-10, UPL-11). */
export const attachmentOperations: ManualOperation[] = [
  {
    method: 'POST',
    path: '/builders/{builderId}/attachments/upload',
    access: null,
    operationId: 'uploadAttachment',
    tags: ['Attachments'],
    summary: 'Upload one image',
    description:
      'Needs any valid access token; no scope. The fields may come in any order, and may be called `type:0` and `file:0` instead. The image is checked when a photo refers to it, which it may once, within 7 days. Until then its bytes count against the quota of uploads of the integrator.',
    parameters: [builderId],
    requestBody: multipartBody(
      {
        properties: { type: typeSchema, file: fileSchema, 'type:0': typeSchema, 'file:0': fileSchema },
        anyOf: [
          { required: ['type', 'file'] },
          { required: ['type:0', 'file:0'] },
          { required: ['type', 'file:0'] },
          { required: ['type:0', 'file'] },
        ],
      },
      { type: 'attachment', file: '(bytes)' },
    ),
    responses: { 201: describeJsonResponse('Uploaded.', referToSchema('UploadedAttachment')) },
  },
  {
    method: 'POST',
    path: '/builders/{builderId}/attachments/bulk-upload',
    access: null,
    operationId: 'bulkUploadAttachments',
    tags: ['Attachments'],
    summary: `Upload up to ${MAX_BULK_FILES} images`,
    description: `Needs any valid access token; no scope. The files are \`file:0\` to \`file:${MAX_BULK_FILES - 1}\`, each with its \`type:0\` to \`type:${MAX_BULK_FILES - 1}\`, or one \`type\` for all. Either all of them are uploaded or none. Until photos use them their bytes count against the quota of uploads of the integrator.`,
    parameters: [builderId],
    requestBody: multipartBody(
      {
        properties: {
          type: typeSchema,
          'file:0': fileSchema,
          'type:0': typeSchema,
          'file:1': fileSchema,
          'type:1': typeSchema,
        },
        required: ['file:0'],
      },
      { 'file:0': '(bytes)', 'type:0': 'attachment' },
    ),
    responses: { 201: describeJsonResponse('Uploaded.', referToSchema('BulkUpload')) },
  },
];

const text = { type: 'string' };
const textParameter = (name: string, example: string, keywords: object = {}) =>
  parameter('query', name, { schema: text, example, ...keywords });

const signedUrlParameters = [
  parameter('path', 'regionId', { schema: { type: 'string', enum: REGIONS }, example: REGIONS[0] }),
  parameter('path', 'key', {
    description: 'Storage key; its slashes are not escaped.',
    schema: text,
    example: getScalarExample(StorageKey),
  }),
  textParameter('type', 'image/jpeg'),
  textParameter('issuer', 'intg_a0mkq3v8t2n4c7x1p9r5w6yzb', {
    required: false,
    description: 'For whom the URL was signed; requests are charged to them.',
  }),
  textParameter('expires', '1772437500'),
  textParameter('signature', '9b2d47'),
];

const storageError = (description: string, code: string) =>
  describeJsonResponse(description, createErrorSchema([code]), []);
const forbidden = storageError('The URL has expired, was altered, or is signed for something else.', 'FORBIDDEN');

const rateLimited = describeJsonResponse(
  'Too many requests to URLs that were signed for the same integrator or user; wait as `Retry-After` says.',
  createErrorSchema(['RATE_LIMITED']),
  [...LIMIT_HEADERS, 'Retry-After'],
);

/** Failures of the store, of a full disk or of the database (UPL-33). */
const failures = { 500: referToError('Internal'), 503: referToError('Unavailable') };

const bytes = { 'image/*': { schema: { type: 'string', format: 'binary' }, example: '(bytes)' } };
const contentRange = (example: string) => ({
  'Content-Range': {
    description: 'Which bytes they are, of how many.',
    schema: { type: 'string', examples: [example] },
  },
});

const ENTITY_TAG = '"5d1c6a0f9b7e4d2c"';
const entityTag = {
  ETag: {
    description:
      'Identifies the bytes, for `If-None-Match` and `If-Range`. Uploads and placeholders of photos have none.',
    schema: { type: 'string', examples: [ENTITY_TAG] },
  },
};

const headerParameter = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: text,
  examples: createUnselectedExample(example),
});

/** The signed URLs, which clients use as the service returned them. */
export const storageOperations: ManualOperation[] = [
  {
    method: 'PUT',
    path: '/storage/{regionId}/{key}',
    access: 'public',
    operationId: 'putUpload',
    tags: ['Attachments'],
    summary: 'Send the bytes to an upload URL',
    description: `The \`uploadUrl\` of a presign operation, for ${MINUTES} minutes, from any origin. Where the service keeps its files in an S3-compatible store the URL leads there. It takes no access token; send the returned \`uploadHeaders\` as they are.`,
    parameters: [...signedUrlParameters, textParameter('size', '2418044')],
    requestBody: { required: true, content: bytes },
    responses: {
      200: {
        description: 'The bytes are stored. The same bytes may be sent again.',
        headers: describeHeaders(LIMIT_HEADERS),
      },
      400: describeJsonResponse(
        'The type or the number of bytes is not the one that was declared.',
        referToSchema('ValidationErrors'),
        [],
      ),
      403: forbidden,
      409: storageError('Other bytes were sent to the URL before; they are kept.', 'UPLOAD_CONFLICT'),
      429: rateLimited,
      ...failures,
    },
  },
  {
    method: 'GET',
    path: '/storage/{regionId}/{key}',
    access: 'public',
    operationId: 'getFile',
    tags: ['Attachments'],
    summary: 'Download a file',
    description: `An \`imageUrl\` or another signed URL, for ${MINUTES} minutes. It takes no access token. One range of bytes may be asked for; the answer to several ranges, and to a range with an \`If-Range\` that is not the \`ETag\` of the file, is the whole file. \`HEAD\` gets the headers of the whole file. A rendition of a photo that does not exist yet is created first. Downloads of URLs that were signed for the same integrator or user share a limit: more at the same time are 429.`,
    parameters: [
      ...signedUrlParameters,
      textParameter('name', 'level-3-east.jpg', { required: false }),
      headerParameter('Range', 'The bytes that are asked for.', 'bytes=0-65535'),
      headerParameter('If-Range', 'The `ETag` of the file that the range is of.', ENTITY_TAG),
      headerParameter('If-None-Match', 'The `ETag` of the file that the client has.', ENTITY_TAG),
    ],
    responses: {
      200: {
        description: 'The bytes, under the type that was checked.',
        headers: { ...describeHeaders(), ...entityTag },
        content: bytes,
      },
      206: {
        description: 'The bytes of the range.',
        headers: { ...describeHeaders(), ...entityTag, ...contentRange('bytes 0-65535/2418044') },
        content: bytes,
      },
      304: {
        description: 'The client has the file: `If-None-Match` names its `ETag`. No body.',
        headers: { ...describeHeaders(), ...entityTag },
      },
      403: forbidden,
      404: storageError('There is no such file.', 'NOT_FOUND'),
      416: {
        ...storageError('The file ends before the range.', 'RANGE_NOT_SATISFIABLE'),
        headers: { ...describeHeaders(), ...contentRange('bytes */2418044') },
      },
      429: referToError('RateLimited'),
      ...failures,
    },
  },
];

const uploadProperties: Record<string, JsonSchema> = {
  key: { type: 'string', description: 'Storage key.' },
  regionId: { type: 'string', enum: REGIONS, description: 'Region whose storage has the file.' },
  type: typeSchema,
  fileName: { type: 'string', description: 'Name of the file, as the form gave it.' },
  contentType: { type: 'string', description: 'Media type: the declared one, or the one detected from the bytes.' },
  imageUrl: { type: 'string', format: 'uri', description: `Signed URL to download the image, for ${MINUTES} minutes.` },
};

export const attachmentSchemas: Record<string, JsonSchema> = {
  UploadedAttachment: toObjectSchema(
    'A file that was uploaded. With `key`, `regionId` and `type` it is what a photo refers to.',
    uploadProperties,
  ),
  BulkUpload: toObjectSchema(null, {
    uploads: {
      type: 'array',
      description: 'The files in the order of their numbers.',
      items: toObjectSchema(null, {
        ...uploadProperties,
        fieldName: { type: 'string', description: 'Field of the form that held it.' },
      }),
    },
  }),
};

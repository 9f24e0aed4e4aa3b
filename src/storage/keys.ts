import { randomBytes } from 'node:crypto';

/** Content types of stored files by the extension of their keys. */
const CONTENT_TYPES: Record<string, string> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

/** A part of a key, such as an id, which has at most 200 characters. */
const SEGMENT = '[A-Za-z0-9_][A-Za-z0-9._-]{0,199}';
const KEY = new RegExp(`^${SEGMENT}(?:/${SEGMENT}){0,7}$`);

/** Whether the text is a valid object key, without characters that file systems or URLs interpret. */
export const isStorageKey = (text: string): boolean => KEY.test(text) && !text.includes('..');

/** Whether the key is that of a record's object, and not of an upload, the list of erasures or the store's owner. */
export const isRecordKey = (key: string): boolean =>
  isStorageKey(key) && /^(photos|logos|pictures|documents)\//.test(key);

/** Whether the key is that of a rendition, which is made when it is requested first. */
export const isRenditionKey = (key: string): boolean => key.startsWith('renditions/');

/** Top-level folders of final objects. Clients upload to `uploads`. */
export type ObjectFolder = 'photos' | 'logos' | 'pictures' | 'documents';

/** Returns a new random key to which a client uploads. */
export const createUploadKey = (builderId: string): string => `uploads/${builderId}/${randomBytes(18).toString('hex')}`;

/** Returns a new random key for checked bytes. No upload URL is ever signed for it. */
export const createObjectKey = (kind: ObjectFolder, owner: string, contentType: string): string =>
  `${kind}/${owner}/${randomBytes(18).toString('hex')}.${toExtension(contentType)}`;

const toExtension = (contentType: string) =>
  Object.keys(CONTENT_TYPES).find((extension) => CONTENT_TYPES[extension] === contentType) ?? 'bin';

/** Returns the content type of an object by the extension of its key. */
export const toContentType = (key: string): string =>
  CONTENT_TYPES[/\.([a-z]+)$/.exec(key)?.[1] ?? ''] ?? 'application/octet-stream';

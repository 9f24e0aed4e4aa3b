import { randomBytes } from 'node:crypto';

/** Content types of the files that the service keeps, by the ending of their keys. */
const TYPES: Record<string, string> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

const SEGMENT = '[A-Za-z0-9_][A-Za-z0-9._-]{0,99}';
const KEY = new RegExp(`^${SEGMENT}(?:/${SEGMENT}){0,7}$`);

/** Whether the text can be the key of a stored object: nothing that a file system or a URL reads another way. */
export const isStorageKey = (text: string): boolean => KEY.test(text) && !text.includes('..');

/** Builder-owned kinds of final objects; what a client may write to stands under `uploads`. */
export type ObjectKind = 'photos' | 'logos' | 'pictures' | 'documents';

/** Where a client sends its bytes; a new one each time, and not guessable. */
export const uploadKey = (builderId: string): string => `uploads/${builderId}/${randomBytes(18).toString('hex')}`;

/** Where checked bytes stay. No upload URL reaches it. */
export function finalKey(kind: ObjectKind, owner: string, contentType: string): string {
  return `${kind}/${owner}/${randomBytes(18).toString('hex')}.${endingOf(contentType)}`;
}

const endingOf = (contentType: string) => Object.keys(TYPES).find((ending) => TYPES[ending] === contentType) ?? 'bin';

/** What is served as the object's type where no row tells it. */
export function contentTypeOfKey(key: string): string {
  return TYPES[/\.([a-z]+)$/.exec(key)?.[1] ?? ''] ?? 'application/octet-stream';
}

import { INEXACT_NUMBER, isExactNumber } from './json-problems.ts';
import { fail, STANDARDS, scalar } from './scalar.ts';
import { createTextScalar, text } from './scalars.ts';
import { hasLength, isCleanText } from './text.ts';

export const FolderName = createTextScalar('FolderName', 'Name of a folder', 255, 'Site walk, 2 March');

export const ImageUrl = createTextScalar(
  'ImageUrl',
  'HTTPS address of an image on an approved host',
  2_000,
  'https://images.example.com/level-3-east.jpg',
  STANDARDS.uri,
);

export const StorageKey = text('StorageKey', 'Key that an upload operation has returned.', {
  min: 1,
  max: 500,
  example: 'uploads/buil_a0mkq3v8t2n4c7x1p9r5w6yzb/5d1c6a0f9b7e4d2c8a315d1c6a0f9b7e4d2c',
});

export const PhotoDescription = text('PhotoDescription', 'Text about a photo, at most 20000 characters.', {
  max: 20_000,
  example: 'Slab edge before the pour',
});

export const SequenceId = scalar<number | string>({
  name: 'SequenceId',
  description: 'Place of a photo in its page: a number, or text of 1 to 220 characters.',
  jsonSchema: { anyOf: [{ type: 'number' }, { type: 'string', minLength: 1, maxLength: 220 }], examples: [17] },
  parse: (value) => {
    if (typeof value === 'number') return isExactNumber(value) ? value : fail(INEXACT_NUMBER);
    const isText = typeof value === 'string' && hasLength(value, 1, 220) && isCleanText(value);
    return isText ? value : fail('must be a number or text of 1 to 220 characters');
  },
});

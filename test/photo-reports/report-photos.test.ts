import { describe, expect, it } from 'vitest';
import type { TreeImage } from '../../src/domain/photo-reports/page-tree.ts';
import { requirePhotos } from '../../src/domain/photo-reports/report-photos.ts';

const anImage = (number: number, imageStatus: 'SYNCED' | 'FAILED' = 'SYNCED'): TreeImage => ({
  at: `page.blocks[${number}]`,
  block: { sourceBlockId: `block-${number}`, imageStatus, attachmentId: `att_${number}` },
});

const createImages = (count: number) => Array.from({ length: count }, (_, number) => anImage(number));

/** Returns the message of the conflict, or null. */
function findConflict(...given: Parameters<typeof requirePhotos>): string | null {
  try {
    requirePhotos(...given);
    return null;
  } catch (error) {
    expect(error).toMatchObject({ status: 409, code: 'ATTACHMENT_CONFLICT' });
    return (error as Error).message;
  }
}

describe('the conflict of blocks whose photo cannot be used (PRP-14)', () => {
  it('names each of ten', () => {
    const parts = findConflict(new Map(), createImages(10), null)!.split('; ');
    expect(parts).toHaveLength(10);
    expect(parts[0]).toBe(
      'page.blocks[0].attachmentId (block "block-0"): att_0 is not an active photo of this builder',
    );
    expect(parts[9]).toMatch(/^page\.blocks\[9\].* is not an active photo of this builder\.$/);
  });

  it('names ten of twelve, and counts the others', () => {
    const parts = findConflict(new Map(), createImages(12), null)!.split('; ');
    expect(parts).toHaveLength(11);
    expect(parts[9]).toContain('att_9');
    expect(parts[10]).toBe('and 2 more.');
  });

  it('is of photos in another project, where the report has one', () => {
    const photos = new Map([
      ['att_0', 'proj_a'],
      ['att_1', null],
      ['att_2', 'proj_b'],
    ]);
    expect(findConflict(photos, createImages(3), 'proj_a')).toBe(
      'page.blocks[2].attachmentId (block "block-2"): att_2 is in another project.',
    );
    expect(findConflict(photos, createImages(3), null)).toBeNull();
    expect(findConflict(photos, createImages(3), undefined)).toBeNull();
  });

  it('does not exist for images that failed in the other application', () => {
    expect(findConflict(new Map(), [anImage(0, 'FAILED')], null)).toBeNull();
  });
});

import { Defect } from '../../entities/defect.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { PhotoSource } from '../../schema/enums.ts';
import type { BuilderContext } from './builder-context.ts';
import { PHOTO_FOLDERS, PHOTO_SUBJECTS } from './words.ts';

/** A stored picture of the demo. */
export interface DemoPicture {
  /** Bytes. */
  size: number;
  width: number;
  height: number;
}

const DAYS = 30;
/** Photos of a day. */
const MAX_PHOTOS = 4;

/** Returns the storage key of a builder's copy of a picture. */
export const toPictureKey = (builderId: string, index: number) => `photos/${builderId}/demo-${index}.jpg`;

/** Adds folders, and photos of every source in the last month; defects refer to theirs. Adds none without pictures. */
export function addPhotos(context: BuilderContext, pictures: readonly DemoPicture[]): void {
  if (pictures.length === 0) return;
  const { rows, random, builder } = context;
  const folders = context.runningProjects.slice(0, 3).flatMap((project) =>
    random.sample(PHOTO_FOLDERS, 2).map((name) => {
      const dates = context.pickDates(context.dayAfter(project), -DAYS - 1);
      return context.add(PhotoFolder, 'folder', { ...dates, projectId: project.id, name });
    }),
  );
  const sources = Object.values(PhotoSource).filter((source) => source !== 'GALLERY');
  const days = Array.from({ length: DAYS }, (_, index) => index - DAYS);
  for (const day of days.flatMap((day) => Array<number>(random.between(1, MAX_PHOTOS)).fill(day))) {
    const source = random.chance(0.5) ? 'GALLERY' : random.pick(sources);
    const folder = source === 'GALLERY' && random.chance(0.7) ? random.pick(folders) : null;
    const createdAt = context.pickTime(day);
    const defect = source === 'DEFECT' ? random.pick(rows.of(Defect).filter((one) => one.createdAt < createdAt)) : null;
    const pictureIndex = random.between(0, pictures.length - 1);
    const { size, width, height } = pictures[pictureIndex]!;
    const { id } = context.add(Photo, 'attachment', {
      createdAt,
      updatedAt: context.pickLater(createdAt, 2),
      projectId: folder?.projectId ?? defect?.projectId ?? random.pick(context.runningProjects).id,
      source,
      folderId: folder?.id ?? null,
      fileName: `IMG_${random.digits(4)}.jpg`,
      contentType: 'image/jpeg',
      key: toPictureKey(builder.id, pictureIndex),
      fileSize: size,
      description: random.chance(0.6) ? random.pick(PHOTO_SUBJECTS) : null,
      photoTakenDate: createdAt,
      sortDate: createdAt,
      metadata: { width, height },
    });
    defect?.photoIds.push(id);
  }
}

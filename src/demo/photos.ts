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

/** Returns the storage key of a builder's copy of a picture. */
export const toPictureKey = (builderId: string, index: number) => `photos/${builderId}/demo-${index}.jpg`;

/** Adds folders, and photos of every source in the last month; defects refer to theirs. Adds none without pictures. */
export function addPhotos(context: BuilderContext, pictures: readonly DemoPicture[]): void {
  if (pictures.length === 0) return;
  const { rows, random, builder, runningProjects } = context;
  const folders = runningProjects.slice(0, 3).flatMap(({ id: projectId, createdAt }) =>
    random.sample(PHOTO_FOLDERS, 2).map((name) => {
      return context.add(PhotoFolder, 'folder', { ...context.pickDates(createdAt, 90), projectId, name });
    }),
  );
  const sources = Object.values(PhotoSource);
  for (let number = 0; number < 2 * DAYS; number++) {
    const source = number % 2 === 0 ? 'GALLERY' : random.pick(sources.slice(1));
    const folder = source === 'GALLERY' && random.chance(0.7) ? random.pick(folders) : null;
    const createdAt = context.pickTime(Math.floor(number / 2) - DAYS);
    const defect = source === 'DEFECT' ? random.pick(rows.of(Defect).filter((one) => one.createdAt < createdAt)) : null;
    const pictureIndex = random.between(0, pictures.length - 1);
    const { size, ...metadata } = pictures[pictureIndex]!;
    const { id } = context.add(Photo, 'attachment', {
      createdAt,
      updatedAt: context.pickLater(createdAt, 2),
      // The others of a source are of one project.
      projectId: (folder ?? defect)?.projectId ?? runningProjects[sources.indexOf(source)]!.id,
      source,
      folderId: folder?.id ?? null,
      fileName: `IMG_${random.digits(4)}.jpg`,
      contentType: 'image/jpeg',
      key: toPictureKey(builder.id, pictureIndex),
      fileSize: size,
      description: random.chance(0.6) ? random.pick(PHOTO_SUBJECTS) : null,
      photoTakenDate: createdAt,
      sortDate: createdAt,
      metadata,
    });
    defect?.photoIds.push(id);
  }
}

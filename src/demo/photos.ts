import { Defect } from '../../entities/defect.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { PhotoSource } from '../../schema/enums.ts';
import { iso, pickLater, pickTimestamps } from './dates.ts';
import type { GeneratorContext } from './generator-context.ts';
import { findFirstDay, hasStarted } from './projects.ts';
import type { Random } from './random.ts';
import { PHOTO_FOLDERS, PHOTO_SUBJECTS } from './words.ts';

/** A stored picture of the demo. */
export interface DemoPicture {
  /** Bytes. */
  size: number;
  width: number;
  height: number;
}

const PHOTOS = 36;
/** Days of which there are photos of running projects, up to so many a day. */
const RECENT_DAYS = 30;
const MAX_RECENT = 4;

/** Returns the storage key of a builder's copy of a picture. */
export const toPictureKey = (builderId: string, index: number) => `photos/${builderId}/demo-${index}.jpg`;

/** Adds folders and photos of every source; defects refer to theirs. Adds none without pictures. */
export function addPhotos(context: GeneratorContext, projects: Project[], pictures: readonly DemoPicture[]): void {
  if (pictures.length === 0) return;
  const random = context.random('photos');
  const begun = projects.filter(hasStarted);
  const folders = begun.slice(0, 3).flatMap((project) => addFolders(context, random, project));
  const others = Object.values(PhotoSource).filter((source) => source !== 'GALLERY');
  for (let count = 0; count < PHOTOS; count++) {
    const source = count % 2 === 0 ? 'GALLERY' : others[((count - 1) / 2) % others.length]!;
    const folder = source === 'GALLERY' && random.chance(0.7) ? random.pick(folders) : null;
    const defect = source === 'DEFECT' ? random.pick(context.rows.of(Defect)) : null;
    const projectId = folder?.projectId ?? defect?.projectId ?? random.pick(begun).id;
    const project = begun.find(({ id }) => id === projectId)!;
    const photo = addPhoto(context, random, { project, source, folderId: folder?.id ?? null, pictures });
    defect?.photoIds.push(photo.id);
  }
}

/** Adds photos of each of the last days. */
export function addRecentPhotos(
  context: GeneratorContext,
  projects: Project[],
  pictures: readonly DemoPicture[],
): void {
  if (pictures.length === 0) return;
  const { calendar, now } = context;
  const random = context.random('recent photos');
  const running = projects.filter(({ status }) => status === 'IN_PROGRESS');
  for (let day = -RECENT_DAYS; day <= 0; day++) {
    for (let count = random.between(0, MAX_RECENT); count > 0; count--) {
      const at = calendar.instantOf(day, random.between(7 * 60, 16 * 60));
      const source = random.pick(['GALLERY', 'GALLERY', 'SITE_DIARY', 'DEFECT'] as const);
      const photo = { project: random.pick(running), source, folderId: null, pictures, createdAt: iso(at) };
      if (at < now) addPhoto(context, random, photo);
    }
  }
}

function addFolders({ rows, builderId }: GeneratorContext, random: Random, project: Project): PhotoFolder[] {
  return random.sample(PHOTO_FOLDERS, 2).map((name) => {
    const dates = pickTimestamps(random, findFirstDay(project) + 1, -1);
    return rows.add(PhotoFolder, {
      id: random.id('folder', dates.createdAt),
      ...dates,
      builderId,
      projectId: project.id,
      name,
    });
  });
}

interface PhotoOptions {
  project: Project;
  source: PhotoSource;
  folderId: string | null;
  pictures: readonly DemoPicture[];
  /** Default: a time of the history. */
  createdAt?: string;
}

function addPhoto(
  { rows, builderId }: GeneratorContext,
  random: Random,
  { project, source, folderId, pictures, ...options }: PhotoOptions,
): Photo {
  const createdAt = options.createdAt ?? pickTimestamps(random, findFirstDay(project) + 5, -1).createdAt;
  const pictureIndex = random.between(0, pictures.length - 1);
  const subject = random.pick(PHOTO_SUBJECTS);
  return rows.add(Photo, {
    id: random.id('attachment', createdAt),
    createdAt,
    updatedAt: pickLater(random, createdAt, 2),
    builderId,
    projectId: project.id,
    source,
    folderId,
    fileName: `IMG_${random.digits(4)}.jpg`,
    contentType: 'image/jpeg',
    key: toPictureKey(builderId, pictureIndex),
    fileSize: pictures[pictureIndex]!.size,
    description: random.chance(0.6) ? subject : null,
    photoTakenDate: createdAt,
    sortDate: createdAt,
    metadata: { width: pictures[pictureIndex]!.width, height: pictures[pictureIndex]!.height },
  });
}

import { Defect } from '../../entities/defect.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import type { Project } from '../../entities/project.entity.ts';
import { PhotoSource } from '../../schema/enums.ts';
import { later, stamps } from './dates.ts';
import { firstDayOf, isBegun } from './projects.ts';
import type { Random } from './random.ts';
import type { Scene } from './scene.ts';

/** A picture of the demo, which is in the storage before a row names it. */
export interface DemoPicture {
  /** Bytes. */
  size: number;
  width: number;
  height: number;
}

const PHOTOS = 36;
const FOLDERS = ['Level 1', 'Level 2', 'Facade', 'Services'];
const SUBJECTS = [
  'Slab edge',
  'Formwork',
  'Scaffold, east side',
  'Crane lift',
  'Site fence',
  'Stair core',
  'Switchboard',
];

/** Where the storage keeps a builder's copy of the picture at that place. */
export const pictureKey = (builderId: string, place: number) => `photos/${builderId}/demo-${place}.jpg`;

/** Folders and photos of every source; those of defects are named by the defects. None without pictures. */
export function addPhotos(scene: Scene, projects: Project[], pictures: readonly DemoPicture[]): void {
  if (pictures.length === 0) return;
  const random = scene.random('photos');
  const begun = projects.filter(isBegun);
  const folders = begun.slice(0, 3).flatMap((project) => addFolders(scene, random, project));
  const others = Object.values(PhotoSource).filter((source) => source !== 'GALLERY');
  for (let count = 0; count < PHOTOS; count++) {
    const source = count % 2 === 0 ? 'GALLERY' : others[((count - 1) / 2) % others.length]!;
    const folder = source === 'GALLERY' && random.chance(0.7) ? random.pick(folders) : null;
    const defect = source === 'DEFECT' ? random.pick(scene.rows.of(Defect)) : null;
    const projectId = folder?.projectId ?? defect?.projectId ?? random.pick(begun).id;
    const project = begun.find(({ id }) => id === projectId)!;
    const photo = addPhoto(scene, random, { project, source, folderId: folder?.id ?? null, pictures });
    defect?.photoIds.push(photo.id);
  }
}

function addFolders({ rows, builderId }: Scene, random: Random, project: Project): PhotoFolder[] {
  return random.some(FOLDERS, 2).map((name) => {
    const dates = stamps(random, firstDayOf(project) + 1, -1);
    return rows.add(PhotoFolder, {
      id: random.id('folder', dates.createdAt),
      ...dates,
      builderId,
      projectId: project.id,
      parentId: null,
      name,
      integratorId: null,
      sourceApp: null,
      pageExternalSourceId: null,
      archivedAt: null,
    });
  });
}

interface Given {
  project: Project;
  source: PhotoSource;
  folderId: string | null;
  pictures: readonly DemoPicture[];
}

function addPhoto({ rows, builderId }: Scene, random: Random, { project, source, folderId, pictures }: Given): Photo {
  const { createdAt } = stamps(random, firstDayOf(project) + 5, -1);
  const place = random.between(0, pictures.length - 1);
  const subject = random.pick(SUBJECTS);
  return rows.add(Photo, {
    id: random.id('attachment', createdAt),
    createdAt,
    updatedAt: later(random, createdAt, 2),
    builderId,
    projectId: project.id,
    source,
    folderId,
    fileName: `IMG_${random.digits(4)}.jpg`,
    contentType: 'image/jpeg',
    key: pictureKey(builderId, place),
    fileSize: pictures[place]!.size,
    description: random.chance(0.6) ? subject : null,
    photoTakenDate: createdAt,
    sortDate: createdAt,
    metadata: { width: pictures[place]!.width, height: pictures[place]!.height },
    archivedAt: null,
    integratorId: null,
    sourceApp: null,
    pageExternalSourceId: null,
    externalSourceId: null,
  });
}

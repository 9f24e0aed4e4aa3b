import { Button } from '../../components/button.tsx';
import { ChosenProject } from '../../components/chosen-project.tsx';
import { ProjectFilter, SelectFilter } from '../../components/filters.tsx';
import { PageHead } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { type PhotoSource, PhotosDocument } from '../../graphql/generated.ts';
import { usePageOffset } from '../../graphql/use-list.ts';
import type { ProjectChoice } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatDay, formatPlural } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { FolderList } from './folder-list.tsx';
import { PhotoImage } from './photo-image.tsx';
import { PhotoViewer } from './photo-viewer.tsx';

const SOURCES: PhotoSource[] = ['GALLERY', 'SITE_DIARY', 'PRE_START', 'CHECKLIST', 'ITP', 'PLATFORM_ACTION', 'DEFECT'];
const PAGE_SIZE = 24;

export default function PhotosPage() {
  return <ChosenProject title="Photos">{(project) => <Gallery project={project} />}</ChosenProject>;
}

function Gallery({ project }: { project: ProjectChoice }) {
  const { id: builderId, timeZone } = useBuilder();
  const { can } = useScope();
  const filters = useFilters();
  const source = (filters.get('source') ?? 'GALLERY') as PhotoSource;
  const folderId = filters.get('folder');
  const offset = usePageOffset(PAGE_SIZE);
  const request = useRequest(
    PhotosDocument,
    { builderId, projectId: project.id, folderId, source: [source], offset, texts: can('person.read') },
    { live: true },
  );
  return (
    <>
      <PageHead title="Photos" description={project.name}>
        <ProjectFilter fallback={project.id} />
        <SelectFilter name="source" label="Area" fallback="GALLERY" options={SOURCES} />
      </PageHead>
      <div className="gallery">
        <FolderList projectId={project.id} folderId={folderId} />
        <section className="panel" aria-label="Photos">
          <Loaded request={request}>
            {({ photos: { data, meta } }) => {
              const index = data.findIndex(({ id }) => id === filters.get('photo'));
              if (data.length === 0) return <Empty title="No photos here">Choose another folder or area.</Empty>;
              return (
                <>
                  <header>
                    <h2>{formatPlural(meta.totalCount, 'photo')}</h2>
                  </header>
                  <ul className="grid">
                    {data.map((photo) => (
                      <li key={photo.id}>
                        <Button className="tile" onClick={() => filters.set({ photo: photo.id })}>
                          <PhotoImage photo={photo} alt="" sizes="(max-width: 700px) 45vw, 240px" />
                          <span className="label">{photo.description ?? photo.fileName}</span>
                          <span className="soft small">
                            {formatDay(photo.photoTakenDate ?? photo.sortDate, timeZone)}
                          </span>
                        </Button>
                      </li>
                    ))}
                  </ul>
                  <Pager label="Pages of photos" meta={meta} />
                  {index >= 0 && (
                    <PhotoViewer
                      photos={data}
                      index={index}
                      onIndex={(next) => filters.set({ photo: data[next]!.id })}
                      onClose={() => filters.set({ photo: null })}
                    />
                  )}
                </>
              );
            }}
          </Loaded>
        </section>
      </div>
    </>
  );
}

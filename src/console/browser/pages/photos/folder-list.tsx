import { Button } from '../../components/button.tsx';
import { Glyph } from '../../components/glyph.tsx';
import { Loaded } from '../../components/states.tsx';
import { PhotoFoldersDocument, type PhotoFoldersQuery } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { formatCount } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';

type Folder = PhotoFoldersQuery['first']['data'][number];

interface Props {
  projectId: string;
  /** The chosen folder; undefined for all photos. */
  folderId: string | undefined;
}

/** The folders of a project's gallery, as a tree. */
export function FolderList({ projectId, folderId }: Props) {
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const request = useRequest(PhotoFoldersDocument, { builderId, projectId }, { live: true });
  const choose = (id: string | null) =>
    filters.set({ folder: id, photo: null, source: id ? null : filters.get('source') });
  return (
    <nav className="panel folders" aria-label="Folders">
      <Button className="plain" aria-current={!folderId} onClick={() => choose(null)}>
        <Glyph name="photos" /> All photos
      </Button>
      <Loaded request={request} lines={4}>
        {({ first, second, third, fourth }) => {
          const folders = [first, second, third, fourth].flatMap(({ data }) => data);
          return (
            <>
              <Branch folders={folders} parentId={null} chosen={folderId} onChoose={choose} />
              {first.meta.totalCount > folders.length && (
                <p className="notice" role="status">
                  The first {folders.length} of {formatCount(first.meta.totalCount)} folders are shown.
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </nav>
  );
}

interface BranchProps {
  folders: readonly Folder[];
  parentId: string | null;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}

function Branch({ folders, parentId, chosen, onChoose }: BranchProps) {
  const folderIds = new Set(folders.map(({ id }) => id));
  const own = folders.filter((folder) => {
    const parent = folder.parentId ?? null;
    // A folder whose parent is not loaded is shown at the top.
    return parentId === null ? parent === null || !folderIds.has(parent) : parent === parentId;
  });
  if (own.length === 0) return null;
  return (
    <ul>
      {own.map(({ id, name, photos }) => (
        <li key={id}>
          <Button className="plain" aria-current={chosen === id} onClick={() => onChoose(id)}>
            <Glyph name="folder" />
            <span className="label">{name}</span>
            <span className="count">{formatCount(photos.meta.totalCount)}</span>
          </Button>
          <Branch folders={folders} parentId={id} chosen={chosen} onChoose={onChoose} />
        </li>
      ))}
    </ul>
  );
}

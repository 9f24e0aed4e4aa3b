import type { KeyboardEvent } from 'react';
import { IconButton } from '../../components/button.tsx';
import { Modal } from '../../components/drawer.tsx';
import type { PhotosQuery } from '../../graphql/generated.ts';
import { formatInstant } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';
import { PhotoImage } from './photo-image.tsx';

type GalleryPhoto = PhotosQuery['photos']['data'][number];

interface Props {
  photos: readonly GalleryPhoto[];
  index: number;
  onIndex: (index: number) => void;
  onClose: () => void;
}

/** Shows one photo on the whole window. The arrow keys, Home and End choose another, and Escape closes it. */
export function PhotoViewer({ photos, index, onIndex, onClose }: Props) {
  const { timeZone } = useScope();
  const photo = photos[index]!;
  const last = photos.length - 1;
  const show = (next: number) => next >= 0 && next <= last && next !== index && onIndex(next);
  const onKeyDown = (event: KeyboardEvent) => {
    const targets: Record<string, number> = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: last };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    show(target);
  };
  return (
    <Modal className="viewer" aria-label={photo.description ?? photo.fileName} onKeyDown={onKeyDown} onClose={onClose}>
      <figure>
        <PhotoImage photo={photo} alt={photo.description ?? photo.fileName} sizes="100vw" />
        <figcaption>
          <span aria-live="polite">
            <strong>{photo.description ?? photo.fileName}</strong>
            <span>
              {photo.folder?.name && `${photo.folder.name}, `}
              {formatInstant(photo.photoTakenDate ?? photo.sortDate, timeZone)}
            </span>
          </span>
          <a href={photo.imageUrl} target="_blank" rel="noreferrer">
            Original
          </a>
          <span className="nowrap">
            {index + 1} of {photos.length}
          </span>
        </figcaption>
      </figure>
      <IconButton
        className="icon previous"
        glyph="previous"
        label="Previous photo"
        disabled={index === 0}
        onClick={() => show(index - 1)}
      />
      <IconButton
        className="icon next"
        glyph="next"
        label="Next photo"
        disabled={index === last}
        onClick={() => show(index + 1)}
      />
      <IconButton className="icon close" glyph="close" label="Close" onClick={onClose} />
    </Modal>
  );
}

import { useEffect } from 'react';
import { useQuery } from 'urql';
import { PhotoSourcesDocument, type SourcesFragment } from '../../graphql/generated.ts';
import { useBuilder } from '../../shared/scope.tsx';

interface Props {
  photo: SourcesFragment & { id: string };
  alt: string;
  /** CSS widths at which it is shown, as of the attribute `sizes`. */
  sizes: string;
}

/** Milliseconds after which renditions are requested again that were not ready. */
const RETRY_MS = 5_000;
/** The largest rendition of a photo that is not rendered yet. */
const UNKNOWN = { width: 1600, height: 1200 };

const listRenditions = ({ small, medium, large }: SourcesFragment) =>
  [small, medium, large].filter((each) => each !== null);

/**
 * A photo in the rendition that fits its size on the page, as soon as there is one. The photo itself is never loaded: it may be HEIC, or
 * very large.
 */
export function PhotoImage({ photo, alt, sizes }: Props) {
  const listed = listRenditions(photo);
  const { id: builderId } = useBuilder();
  const variables = { builderId, photoId: photo.id };
  const [{ data, fetching }, execute] = useQuery({ query: PhotoSourcesDocument, variables, pause: true });
  const sources = listed.length === 0 && data?.photo?.id === photo.id ? listRenditions(data.photo) : listed;
  const isReady = sources.length > 0;
  useEffect(() => {
    if (isReady || fetching) return;
    const timer = setTimeout(() => execute({ requestPolicy: 'network-only' }), RETRY_MS);
    return () => clearTimeout(timer);
  }, [isReady, fetching, execute]);
  const { width, height } = sources.at(-1) ?? UNKNOWN;
  return (
    <img
      src={sources.at(-1)?.url ?? PREPARED}
      srcSet={sources.map((source) => `${source.url} ${source.width}w`).join(', ') || undefined}
      sizes={sizes}
      width={width}
      height={height}
      alt={isReady ? alt : 'The photo is being prepared.'}
      loading="lazy"
      decoding="async"
    />
  );
}

/** Placeholder of a photo that is not rendered yet, in colours that fit the viewer and the tiles. */
const PREPARED = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 160 120"><rect width="160" height="120" fill="#8a97a3" fill-opacity=".25"/>
    <text x="80" y="64" text-anchor="middle" font-family="sans-serif" font-size="11" fill="#7c8894">being prepared</text></svg>`,
)}`;

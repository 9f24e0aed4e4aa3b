interface Source {
  url: string;
  width: number;
  height: number;
}

interface Props {
  photo: { imageUrl: string; small: Source | null; medium: Source | null; large: Source | null };
  alt: string;
  /** CSS widths at which it is shown, as of the attribute `sizes`. */
  sizes: string;
}

/** A photo in the rendition that fits its place; the original where it could not be rendered. */
export function PhotoImage({ photo: { imageUrl, small, medium, large }, alt, sizes }: Props) {
  const sources = [small, medium, large].filter((source) => source !== null);
  const shown = sources.at(-1);
  return (
    <img
      src={shown?.url ?? imageUrl}
      srcSet={sources.map(({ url, width }) => `${url} ${width}w`).join(', ') || undefined}
      sizes={sizes}
      width={shown?.width}
      height={shown?.height}
      alt={alt}
      loading="lazy"
      decoding="async"
    />
  );
}

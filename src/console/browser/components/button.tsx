import type { ButtonHTMLAttributes } from 'react';
import { Glyph, type GlyphName } from './glyph.tsx';

type Attributes = ButtonHTMLAttributes<HTMLButtonElement>;

/** A button that submits no form. */
export const Button = (attributes: Attributes) => <button type="button" {...attributes} />;

/** A button with a symbol in place of a text. */
export const IconButton = ({ glyph, label, ...attributes }: Attributes & { glyph: GlyphName; label: string }) => (
  <Button className="plain icon" aria-label={label} {...attributes}>
    <Glyph name={glyph} />
  </Button>
);

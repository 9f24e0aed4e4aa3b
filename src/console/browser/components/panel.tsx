import type { ReactNode } from 'react';

interface Props {
  title: ReactNode;
  /** What is shown beside the title. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A section of a page, with a heading. */
export const Panel = ({ title, aside, children }: Props) => (
  <section className="panel">
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
);

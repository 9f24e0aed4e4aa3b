import type { ReactNode } from 'react';
import { Empty } from './states.tsx';

interface PageHeadProps {
  title: ReactNode;
  description?: ReactNode;
  /** The page that this one belongs to. */
  parent?: ReactNode;
  /** Filters and actions of the page. */
  children?: ReactNode;
}

/** The heading of a page, with its filters and actions beside it. */
export const PageHead = ({ title, description, parent, children }: PageHeadProps) => (
  <div className="page-head">
    <div>
      {parent && <p className="soft small">{parent}</p>}
      <h1>{title}</h1>
      {description && <p className="soft">{description}</p>}
    </div>
    {children && <div className="filters">{children}</div>}
  </div>
);

interface PanelProps {
  title: ReactNode;
  /** What is shown beside the title. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A section of a page, with a heading. */
export const Panel = ({ title, aside, children }: PanelProps) => (
  <section className="panel">
    <header>
      <h2>{title}</h2>
      {aside}
    </header>
    {children}
  </section>
);

/** A page that has nothing to show but a message. */
export const EmptyPage = ({ heading, title, children }: { heading: string; title: string; children?: ReactNode }) => (
  <>
    <h1>{heading}</h1>
    <section className="panel">
      <Empty title={title}>{children}</Empty>
    </section>
  </>
);

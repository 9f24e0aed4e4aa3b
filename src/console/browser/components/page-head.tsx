import type { ReactNode } from 'react';

interface Props {
  title: ReactNode;
  description?: ReactNode;
  /** The page that this one belongs to. */
  parent?: ReactNode;
  /** Filters and actions of the page. */
  children?: ReactNode;
}

/** The heading of a page, with its filters and actions beside it. */
export const PageHead = ({ title, description, parent, children }: Props) => (
  <div className="page-head">
    <div>
      {parent && <p className="small">{parent}</p>}
      <h1>{title}</h1>
      {description && <p>{description}</p>}
    </div>
    {children && <div className="filters">{children}</div>}
  </div>
);

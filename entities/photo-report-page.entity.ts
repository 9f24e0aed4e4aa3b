import { Entity, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Id, Reference } from './columns.ts';
import { PhotoReport } from './photo-report.entity.ts';

/**
 * A page of a report. It keeps its id over revisions as long as the path of `sourceBlockId`s that leads to it exists; what it says
 * is in the content of its report (PRP-8).
 */
@Entity()
@Unique({ properties: ['reportId', 'pathDigest'] })
@Index({ properties: ['parentId'] })
export class PhotoReportPage {
  @Id()
  id!: string;

  @Reference(() => PhotoReport)
  reportId!: string;

  /** Null for the root. */
  @Reference(() => PhotoReportPage, { nullable: true })
  parentId!: string | null;

  /** The `sourceBlockId`s from the root to this page; none for the root. */
  @Property({ type: 'text[]' })
  path!: string[];

  /** SHA-256 of the path as JSON, in hexadecimal: a path is too long for an entry of an index. */
  @Property({ type: 'text' })
  pathDigest!: string;
}

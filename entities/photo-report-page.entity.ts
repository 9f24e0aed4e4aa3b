import { Entity, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Id, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { PhotoReport } from './photo-report.entity.ts';

/** A page of a report, not of a list. It keeps its id over revisions as long as its path exists. Its content is in `PhotoReport.content` (PRP-8). */
@Entity()
@PersonalData<PhotoReportPage>({ none: ['path', 'pathDigest'] })
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

  /** `sourceBlockId`s from the root to this page; empty for the root. */
  @Property({ type: 'text[]' })
  path!: string[];

  /** SHA-256 of the path as JSON, in hexadecimal, because a path can be too long for an index. */
  @Property({ type: 'text' })
  pathDigest!: string;
}

import { createUnionType, Field, Float, Int, ObjectType } from 'type-graphql';
import { BlockType, ImageStatus, TextMark } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { AttachmentId, JsonObject, PageId } from '../schema/scalars.ts';

/*
 * Output types of a report's tree (PRP-37). Its input types are in `photo-report.input.ts`.
 */

@ObjectType({ description: 'A run of text with one set of marks.', simpleResolvers: true })
export class RichTextRun {
  @Field(() => String)
  text!: string;

  @Field(() => [TextMark])
  marks!: TextMark[];
}

@ObjectType({ description: 'An item of a list or checklist.', simpleResolvers: true })
export class ReportListItem {
  @Field(() => String)
  id!: string;

  @Field(() => Int, { description: 'How deep it is indented.' })
  depth!: number;

  @Field(() => [RichTextRun])
  richText!: RichTextRun[];

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the item of a checklist is checked; null if not stated, and in other lists.',
  })
  checked!: boolean | null;
}

@ObjectType({ simpleResolvers: true })
abstract class ReportBlockFields {
  @Field(() => BlockType)
  type!: BlockType;

  @Field(() => String, { description: 'Unique among its siblings.' })
  sourceBlockId!: string;

  @Field(() => JsonObject, { description: 'The content, as it was sent.' })
  properties!: Record<string, unknown>;
}

@ObjectType({ description: 'A paragraph.', simpleResolvers: true })
export class ReportText extends ReportBlockFields {
  @Field(() => [RichTextRun])
  richText!: RichTextRun[];
}

@ObjectType({ description: 'A heading.', simpleResolvers: true })
export class ReportHeading extends ReportText {
  @Field(() => Int, { description: '1 to 4; 1 is the highest.' })
  level!: number;
}

@ObjectType({
  description: 'A list with bullets or numbers, or a checklist; `type` tells which.',
  simpleResolvers: true,
})
export class ReportList extends ReportBlockFields {
  @Field(() => [ReportListItem])
  items!: ReportListItem[];
}

@ObjectType({ description: 'Why an image is missing.', simpleResolvers: true })
class ReportImageFailure {
  @Field(() => String)
  code!: string;

  @Field(() => String)
  message!: string;
}

@ObjectType({ description: 'An image.', simpleResolvers: true })
@Scoped('read:photos')
export class ReportImage extends ReportBlockFields {
  /** Builder of the photo; not a GraphQL field. */
  builderId!: string;

  @Field(() => ImageStatus)
  imageStatus!: ImageStatus;

  @Field(() => AttachmentId, { nullable: true, description: 'Id of the photo; null when it failed.' })
  attachmentId!: string | null;

  @Field(() => Float, { nullable: true, description: 'Position of the image in the site walk.' })
  captureSequenceId!: number | null;

  @Field(() => ReportImageFailure, { nullable: true })
  imageFailure!: ReportImageFailure | null;
}

@ObjectType({ description: 'A page within the page.', simpleResolvers: true })
export class ReportChildPage extends ReportBlockFields {
  @Field(() => ReportPage)
  childPage!: object;
}

const MEMBERS: Record<BlockType, string> = {
  TEXT: ReportText.name,
  HEADING: ReportHeading.name,
  BULLETED_LIST: ReportList.name,
  ORDERED_LIST: ReportList.name,
  CHECKLIST: ReportList.name,
  IMAGE: ReportImage.name,
  PAGE: ReportChildPage.name,
};

export const ReportBlock = createUnionType({
  name: 'ReportBlock',
  description: 'A part of a page.',
  types: () => [ReportText, ReportHeading, ReportList, ReportImage, ReportChildPage] as const,
  resolveType: ({ type }) => MEMBERS[type],
});
export type ReportBlock = ReportText | ReportHeading | ReportList | ReportImage | ReportChildPage;

@ObjectType({ description: 'A page of a report.', simpleResolvers: true })
export class ReportPage {
  @Field(() => PageId, { description: 'Unchanged over revisions as long as the `path` of the page exists.' })
  id!: string;

  @Field(() => [String], { description: 'The `sourceBlockId`s from the root to the page; none for the root.' })
  path!: string[];

  @Field(() => String)
  title!: string;

  @Field(() => String, { nullable: true })
  shortDescription!: string | null;

  @Field(() => JsonObject, { nullable: true })
  contentMetadata!: Record<string, unknown> | null;

  @Field(() => JsonObject, { nullable: true })
  sharingMetadata!: Record<string, unknown> | null;

  /** Resolved by `ReportPageResolver`. */
  blocks!: ReportBlock[];
}

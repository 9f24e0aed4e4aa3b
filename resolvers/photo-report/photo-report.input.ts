import { ArgsType, Extensions, Field, Float, InputType } from 'type-graphql';
import { BlockType, ImageStatus, TextMark } from '../../schema/enums.ts';
import { JsonObject } from '../../schema/scalars.ts';
import { validatePageDocument } from '../../src/domain/photo-reports/page-document.ts';
import { pageSchemas } from '../../src/domain/photo-reports/page-schema.ts';
import {
  AuthorEmail,
  AuthorExternalId,
  AuthorName,
  DeepLink,
  FailureCode,
  FailureMessage,
  PageSchemaVersion,
  PageText,
  ReportAttachmentId,
  ReportExternalId,
  ReportProjectId,
  ReportSourceApp,
  ReportUserId,
  SourceBlockId,
  SourceInstant,
  SourceRevision,
} from '../../src/domain/photo-reports/photo-report.scalars.ts';

/*
 * `page-document.ts` validates what these types cannot express: rules that depend on the `type` of a block or on the whole tree. It
 * runs before the coercion to these types, so that one response contains all errors.
 */

const strict = { strict: true };

@InputType({ description: 'A run of text with one set of marks.' })
@Extensions(strict)
class RichTextRunInput {
  @Field(() => String, { description: 'Text of the run; may be empty.' })
  text!: string;

  @Field(() => [TextMark], { nullable: true, description: 'At most two. Default: none.' })
  marks?: TextMark[] | null;
}

@InputType({ description: 'Why an image is missing.' })
@Extensions(strict)
class ImageFailureInput {
  @Field(() => FailureCode, { description: 'Error code.' })
  code!: string;

  @Field(() => FailureMessage, { description: 'Description of the failure.' })
  message!: string;
}

@InputType({ description: 'A part of a page. Which fields it has depends on its type.' })
@Extensions(strict)
class BlockInput {
  @Field(() => SourceBlockId, {
    description: 'Identifier of the block in the other application, unique among its siblings.',
  })
  sourceBlockId!: string;

  @Field(() => BlockType, { description: 'Kind of block, which decides about its other fields.' })
  type!: BlockType;

  @Field(() => JsonObject, {
    description: 'Free-form; of a heading with `level`, of a list or checklist with `items`.',
  })
  properties!: Record<string, unknown>;

  @Field(() => [RichTextRunInput], { nullable: true, description: 'Of a TEXT or HEADING.' })
  richText?: RichTextRunInput[] | null;

  @Field(() => ReportAttachmentId, {
    nullable: true,
    description: 'Of an IMAGE: id of the photo; null when it FAILED.',
  })
  attachmentId?: string | null;

  @Field(() => Float, { nullable: true, description: 'Of an IMAGE: its place in the walk.' })
  captureSequenceId?: number | null;

  @Field(() => ImageStatus, { nullable: true, description: 'Of an IMAGE.' })
  imageStatus?: ImageStatus | null;

  @Field(() => ImageFailureInput, { nullable: true, description: 'Of an IMAGE that FAILED.' })
  imageFailure?: ImageFailureInput | null;

  @Field(() => PageDocumentInput, { nullable: true, description: 'Of a PAGE.' })
  childPage?: object | null;
}

/** A page with its blocks and child pages (PRP-22). */
@InputType({ description: 'A page as it is now, whole: content that it does not contain any more is removed.' })
@Extensions({ ...strict, validator: validatePageDocument, openapi: pageSchemas })
export class PageDocumentInput {
  @Field(() => PageSchemaVersion, { description: 'Version of the Page document format: 1.' })
  schemaVersion!: number;

  @Field(() => PageText, { description: 'Title of the page, plain text.' })
  title!: string;

  @Field(() => PageText, { nullable: true, description: 'Summary of the page, plain text.' })
  shortDescription?: string | null;

  @Field(() => JsonObject, {
    nullable: true,
    description: 'Free-form data about the content, returned unchanged.',
  })
  contentMetadata?: Record<string, unknown> | null;

  @Field(() => JsonObject, { nullable: true, description: 'Free-form data about sharing, returned unchanged.' })
  sharingMetadata?: Record<string, unknown> | null;

  @Field(() => [BlockInput], { description: 'Blocks in their order; each `sourceBlockId` is unique in this list.' })
  blocks!: BlockInput[];
}

@InputType({ description: 'Who made the report in its application.' })
class SourceAuthorInput {
  @Field(() => AuthorExternalId, { description: 'Identifier of the author in the other application.' })
  externalId!: string;

  @Field(() => AuthorName, { description: 'Name of the author, 1 to 240 characters.' })
  name!: string;

  @Field(() => AuthorEmail, { nullable: true, description: 'E-mail address of the author.' })
  email?: string | null;
}

@ArgsType()
export class SourceReportArgs {
  @Field(() => ReportSourceApp, {
    description:
      'Name of the application that the report comes from; with `sourceExternalId` the identity of the report.',
  })
  sourceApp!: string;

  @Field(() => ReportExternalId, { description: 'Stays the same for a report.' })
  sourceExternalId!: string;
}

/** Body of a sync (PRP-18). */
@ArgsType()
export class PhotoReportArgs extends SourceReportArgs {
  @Field(() => SourceRevision, { description: 'Revision of the content; increases with each change.' })
  sourceRevision!: number;

  @Field(() => SourceInstant, { description: 'When the report was made.' })
  sourceCreatedAt!: string;

  @Field(() => SourceInstant, { description: 'When the site was walked.' })
  walkthroughDate!: string;

  @Field(() => SourceAuthorInput, { description: 'Who made the report in its application.' })
  sourceAuthor!: SourceAuthorInput;

  @Field(() => ReportUserId, { nullable: true, description: 'The member of the builder who is the author.' })
  mappedAdminUserId?: string | null;

  @Field(() => DeepLink, { nullable: true })
  sourceDeepLink?: string | null;

  @Field(() => ReportProjectId, { nullable: true, description: 'The project that the report is about.' })
  projectId?: string | null;

  @Field(() => PageDocumentInput, {
    description: 'The whole report as it is now; content that it does not contain any more is removed.',
  })
  page!: PageDocumentInput;
}

@ArgsType()
export class ArchiveReportArgs extends SourceReportArgs {
  @Field(() => SourceRevision, {
    nullable: true,
    description: 'The revision that is to be archived; one that is lower than the stored one is a conflict.',
  })
  sourceRevision?: number | null;
}

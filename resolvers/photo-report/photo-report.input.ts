import { ArgsType, Field, InputType } from 'type-graphql';
import {
  AuthorEmail,
  AuthorExternalId,
  AuthorName,
  DeepLink,
  PageDocumentInput,
  ReportExternalId,
  ReportProjectId,
  ReportSourceApp,
  ReportUserId,
  SourceInstant,
  SourceRevision,
} from '../../src/domain/photo-reports/photo-report.scalars.ts';
import type { PreparedPage } from '../../src/domain/photo-reports/prepared-page.ts';
import type { PageDocument } from '../../src/domain/photo-reports/report-inputs.ts';

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

  @Field(() => ReportExternalId, { description: 'The same in every revision of a report.' })
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
  page!: PageDocument | PreparedPage;
}

@ArgsType()
export class ArchiveReportArgs extends SourceReportArgs {
  @Field(() => SourceRevision, {
    nullable: true,
    description: 'One that is lower than the stored one is a conflict. Otherwise the stored report is archived.',
  })
  sourceRevision?: number | null;
}

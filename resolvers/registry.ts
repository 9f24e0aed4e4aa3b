import type { NonEmptyArray } from 'type-graphql';
import { AttachmentResolver } from './attachment/attachment.resolver.ts';
import { SignOnEventResolver } from './attendance/attendance.resolver.ts';
import {
  BuilderAttendanceResolver,
  ProjectAttendanceResolver,
  SignOnEventVisitResolver,
  SignOnVisitResolver,
  WorkerVisitsResolver,
} from './attendance/attendance-edges.resolver.ts';
import { BuilderResolver } from './builder/builder.resolver.ts';
import {
  BuilderDefectsResolver,
  DefectCompanyResolver,
  DefectResolver,
  ProjectDefectsResolver,
} from './defect/defect.resolver.ts';
import { InductionResolver } from './induction/induction.resolver.ts';
import {
  ProjectInductionsResolver,
  SubcontractorInductionsResolver,
  WorkerInductionsResolver,
} from './induction/induction-edges.resolver.ts';
import {
  BuilderMeetingsResolver,
  MeetingNoteResolver,
  MeetingResolver,
  ProjectMeetingsResolver,
} from './meeting/meeting.resolver.ts';
import { MeetingWritesResolver } from './meeting/meeting-writes.resolver.ts';
import { PhotoFolderResolver, ProjectFoldersResolver } from './photo/folder.resolver.ts';
import { GalleryResolver } from './photo/gallery.resolver.ts';
import { PhotoResolver } from './photo/photo.resolver.ts';
import {
  BuilderPhotosResolver,
  DefectPhotosResolver,
  FolderPhotosResolver,
  ProjectPhotosResolver,
} from './photo/photo-edges.resolver.ts';
import { PhotoReportSyncResolver } from './photo-report/photo-report.resolver.ts';
import {
  BuilderPhotoReportsResolver,
  PhotoReportResolver,
  ProjectPhotoReportsResolver,
  ReportImageResolver,
  ReportPageResolver,
} from './photo-report/photo-report-reads.resolver.ts';
import { BuilderProjectsResolver, ProjectResolver, ProjectSummaryResolver } from './project/project.resolver.ts';
import { ContactResolver, SubcontractorContactsResolver } from './subcontractor/contact.resolver.ts';
import { InsuranceResolver, SubcontractorInsurancesResolver } from './subcontractor/insurance.resolver.ts';
import {
  PrequalificationResolver,
  SubcontractorPrequalificationsResolver,
} from './subcontractor/prequalification.resolver.ts';
import { SubcontractorResolver } from './subcontractor/subcontractor.resolver.ts';
import {
  BuilderSubcontractorsResolver,
  ProjectSubcontractorsResolver,
  SubcontractorSummaryResolver,
} from './subcontractor/subcontractor-edges.resolver.ts';
import { SubcontractorSwmsResolver, SwmsResolver } from './subcontractor/swms.resolver.ts';
import {
  SubcontractorWorkersResolver,
  WorkerResolver,
  WorkerSummaryResolver,
} from './subcontractor/worker.resolver.ts';
import { ProjectTimesheetsResolver, TimesheetResolver } from './timesheet/timesheet.resolver.ts';
import { ViewerResolver } from './viewer/viewer.resolver.ts';

/** Every resolver of the service. */
export const resolvers: NonEmptyArray<new () => object> = [
  BuilderResolver,
  ProjectResolver,
  BuilderProjectsResolver,
  ProjectSummaryResolver,
  TimesheetResolver,
  ProjectTimesheetsResolver,
  SubcontractorResolver,
  BuilderSubcontractorsResolver,
  ProjectSubcontractorsResolver,
  SubcontractorSummaryResolver,
  SwmsResolver,
  SubcontractorSwmsResolver,
  PrequalificationResolver,
  SubcontractorPrequalificationsResolver,
  InsuranceResolver,
  SubcontractorInsurancesResolver,
  ContactResolver,
  SubcontractorContactsResolver,
  WorkerResolver,
  SubcontractorWorkersResolver,
  WorkerSummaryResolver,
  InductionResolver,
  ProjectInductionsResolver,
  SubcontractorInductionsResolver,
  WorkerInductionsResolver,
  DefectResolver,
  DefectCompanyResolver,
  BuilderDefectsResolver,
  ProjectDefectsResolver,
  MeetingResolver,
  MeetingWritesResolver,
  MeetingNoteResolver,
  BuilderMeetingsResolver,
  ProjectMeetingsResolver,
  SignOnEventResolver,
  SignOnVisitResolver,
  SignOnEventVisitResolver,
  ProjectAttendanceResolver,
  BuilderAttendanceResolver,
  WorkerVisitsResolver,
  AttachmentResolver,
  PhotoResolver,
  BuilderPhotosResolver,
  ProjectPhotosResolver,
  FolderPhotosResolver,
  DefectPhotosResolver,
  PhotoFolderResolver,
  ProjectFoldersResolver,
  GalleryResolver,
  PhotoReportSyncResolver,
  PhotoReportResolver,
  ReportPageResolver,
  ReportImageResolver,
  BuilderPhotoReportsResolver,
  ProjectPhotoReportsResolver,
  ViewerResolver,
];

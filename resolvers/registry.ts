import type { NonEmptyArray } from 'type-graphql';
import { AttachmentResolver } from './attachment/attachment.resolver.ts';
import { attendanceEdges } from './attendance/attendance.edges.ts';
import { SignOnEventResolver } from './attendance/attendance.resolver.ts';
import { GateListsResolver } from './attendance/gate-lists.resolver.ts';
import { BuilderResolver } from './builder/builder.resolver.ts';
import { DefectResolver, defectEdges } from './defect/defect.resolver.ts';
import { EventResolver } from './event/event.resolver.ts';
import { InductionResolver, inductionEdges } from './induction/induction.resolver.ts';
import { MeetingResolver, meetingEdges } from './meeting/meeting.resolver.ts';
import { MeetingWritesResolver } from './meeting/meeting-writes.resolver.ts';
import { folderEdges, PhotoFolderResolver } from './photo/folder.resolver.ts';
import { GalleryResolver } from './photo/gallery.resolver.ts';
import { DefectPhotosResolver, PhotoResolver, photoEdges } from './photo/photo.resolver.ts';
import {
  PhotoReportResolver,
  photoReportEdges,
  ReportImageResolver,
  ReportPageResolver,
} from './photo-report/photo-report.resolver.ts';
import { PhotoReportSyncResolver } from './photo-report/photo-report-sync.resolver.ts';
import { ProjectResolver, projectEdges } from './project/project.resolver.ts';
import { RequestLogResolver } from './request-log/request-log.resolver.ts';
import { SnapshotResolver } from './snapshot/snapshot.resolver.ts';
import { ContactResolver, contactEdges } from './subcontractor/contact.resolver.ts';
import { InsuranceResolver, insuranceEdges } from './subcontractor/insurance.resolver.ts';
import { PrequalificationResolver, prequalificationEdges } from './subcontractor/prequalification.resolver.ts';
import { SubcontractorResolver, subcontractorEdges } from './subcontractor/subcontractor.resolver.ts';
import { SwmsResolver, swmsEdges } from './subcontractor/swms.resolver.ts';
import { workerEdges } from './subcontractor/worker.edges.ts';
import { TimesheetResolver, timesheetEdges } from './timesheet/timesheet.resolver.ts';
import { ViewerResolver } from './viewer/viewer.resolver.ts';
import { WebhookResolver } from './webhook/webhook.resolver.ts';

/** All resolvers: classes with methods, and declared edges. */
export const resolvers: NonEmptyArray<new () => object> = [
  AttachmentResolver,
  BuilderResolver,
  ContactResolver,
  DefectPhotosResolver,
  DefectResolver,
  EventResolver,
  GalleryResolver,
  GateListsResolver,
  InductionResolver,
  InsuranceResolver,
  MeetingResolver,
  MeetingWritesResolver,
  PhotoFolderResolver,
  PhotoReportResolver,
  PhotoReportSyncResolver,
  PhotoResolver,
  PrequalificationResolver,
  ProjectResolver,
  ReportImageResolver,
  ReportPageResolver,
  RequestLogResolver,
  SignOnEventResolver,
  SnapshotResolver,
  SubcontractorResolver,
  SwmsResolver,
  TimesheetResolver,
  ViewerResolver,
  WebhookResolver,
  ...attendanceEdges,
  ...contactEdges,
  ...defectEdges,
  ...folderEdges,
  ...inductionEdges,
  ...insuranceEdges,
  ...meetingEdges,
  ...photoEdges,
  ...photoReportEdges,
  ...prequalificationEdges,
  ...projectEdges,
  ...subcontractorEdges,
  ...swmsEdges,
  ...timesheetEdges,
  ...workerEdges,
];

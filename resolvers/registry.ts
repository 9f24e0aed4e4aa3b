import type { NonEmptyArray } from 'type-graphql';
import { AttachmentResolver } from './attachment/attachment.resolver.ts';
import { attendanceEdges } from './attendance/attendance.edges.ts';
import { SignOnEventResolver } from './attendance/attendance.resolver.ts';
import { gateLists } from './attendance/gate-lists.resolver.ts';
import { BuilderResolver } from './builder/builder.resolver.ts';
import { defectFields } from './defect/defect.resolver.ts';
import { EventResolver } from './event/event.resolver.ts';
import { InductionResolver, inductionFields } from './induction/induction.resolver.ts';
import { MeetingResolver, meetingFields } from './meeting/meeting.resolver.ts';
import { MeetingWritesResolver } from './meeting/meeting-writes.resolver.ts';
import { folderFields, PhotoFolderResolver } from './photo/folder.resolver.ts';
import { GalleryResolver } from './photo/gallery.resolver.ts';
import { DefectPhotosResolver, PhotoResolver, photoFields } from './photo/photo.resolver.ts';
import {
  PhotoReportResolver,
  photoReportFields,
  ReportImageResolver,
  ReportPageResolver,
} from './photo-report/photo-report.resolver.ts';
import { PhotoReportSyncResolver } from './photo-report/photo-report-sync.resolver.ts';
import { projectFields } from './project/project.resolver.ts';
import { RequestLogResolver } from './request-log/request-log.resolver.ts';
import { SnapshotResolver } from './snapshot/snapshot.resolver.ts';
import { contactFields } from './subcontractor/contact.resolver.ts';
import { insuranceFields } from './subcontractor/insurance.resolver.ts';
import { prequalificationFields } from './subcontractor/prequalification.resolver.ts';
import { SubcontractorResolver, subcontractorFields } from './subcontractor/subcontractor.resolver.ts';
import { swmsFields } from './subcontractor/swms.resolver.ts';
import { workerEdges } from './subcontractor/worker.edges.ts';
import { TimesheetResolver, timesheetFields } from './timesheet/timesheet.resolver.ts';
import { ViewerResolver } from './viewer/viewer.resolver.ts';
import { WebhookResolver } from './webhook/webhook.resolver.ts';

/** All resolvers: classes with methods, and declared fields. */
export const resolvers: NonEmptyArray<new () => object> = [
  AttachmentResolver,
  BuilderResolver,
  DefectPhotosResolver,
  EventResolver,
  GalleryResolver,
  InductionResolver,
  MeetingResolver,
  MeetingWritesResolver,
  PhotoFolderResolver,
  PhotoReportResolver,
  PhotoReportSyncResolver,
  PhotoResolver,
  ReportImageResolver,
  ReportPageResolver,
  RequestLogResolver,
  SignOnEventResolver,
  SnapshotResolver,
  SubcontractorResolver,
  TimesheetResolver,
  ViewerResolver,
  WebhookResolver,
  ...attendanceEdges,
  ...contactFields,
  ...defectFields,
  ...folderFields,
  ...gateLists,
  ...inductionFields,
  ...insuranceFields,
  ...meetingFields,
  ...photoFields,
  ...photoReportFields,
  ...prequalificationFields,
  ...projectFields,
  ...subcontractorFields,
  ...swmsFields,
  ...timesheetFields,
  ...workerEdges,
];

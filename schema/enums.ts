import { registerEnumType } from 'type-graphql';
import { REGIONS } from '../src/shared/regions.ts';

/** The values of each enum by its name, for error messages. */
export const enumValues = new Map<string, readonly string[]>();

/** Declares an enum for GraphQL, the OpenAPI document and the database's check constraint. Returns its values by name. */
export function declareEnum<const T extends readonly string[]>(name: string, description: string, values: T) {
  const object = Object.fromEntries(values.map((value) => [value, value])) as { [K in T[number]]: K };
  registerEnumType(object, { name, description });
  enumValues.set(name, values);
  return object;
}

export type Value<T> = T[keyof T];

export const ListOrder = declareEnum('ListOrder', 'Order of a list, by time of creation.', ['asc', 'desc']);
export type ListOrder = Value<typeof ListOrder>;

export const ProjectStatus = declareEnum('ProjectStatus', 'State of a project.', [
  'ARCHIVED',
  'COMPLETE',
  'IN_PROGRESS',
  'UPCOMING',
]);
export type ProjectStatus = Value<typeof ProjectStatus>;

export const SubcontractorStatus = declareEnum('SubcontractorStatus', 'Status of a subcontractor on a project.', [
  'INVITED',
  'ACCEPTED',
  'SWMS_UPLOADED',
  'SWMS_APPROVED',
  'INSURANCE_UPLOADED',
  'INSURANCE_EXPIRED',
  'PREQUALIFIED',
]);
export type SubcontractorStatus = Value<typeof SubcontractorStatus>;

export const SwmsStatus = declareEnum('SwmsStatus', 'Review state of a SWMS document.', [
  'WAITING_REVIEW',
  'REVIEWED',
  'CHANGES_REQUESTED',
]);
export type SwmsStatus = Value<typeof SwmsStatus>;

export const PrequalificationStatus = declareEnum('PrequalificationStatus', 'State of a prequalification.', [
  'APPROVED',
  'REJECTED',
  'WAITING_REVIEW',
  'SENT',
]);
export type PrequalificationStatus = Value<typeof PrequalificationStatus>;

export const InsuranceType = declareEnum('InsuranceType', 'Kind of cover.', [
  'PUBLIC_LIABILITY',
  'WORK_COVER',
  'OTHER',
]);
export type InsuranceType = Value<typeof InsuranceType>;

export const InsuranceStatus = declareEnum('InsuranceStatus', 'Review state of an insurance.', [
  'WAITING_REVIEW',
  'REVIEWED',
  'CHANGES_REQUESTED',
  'EXPIRED',
]);
export type InsuranceStatus = Value<typeof InsuranceStatus>;

export const ContactType = declareEnum('ContactType', 'Type of the contact.', ['SUBCONTRACTOR', 'BUILDER']);
export type ContactType = Value<typeof ContactType>;

export const InductionType = declareEnum('InductionType', 'Type of the induction.', [
  'PROJECT_INDUCTION',
  'COMPANY_INDUCTION',
]);
export type InductionType = Value<typeof InductionType>;

export const InductionStatus = declareEnum('InductionStatus', 'Review state of an induction.', [
  'REVIEWED',
  'WAITING_REVIEW',
  'CHANGES_REQUESTED',
]);
export type InductionStatus = Value<typeof InductionStatus>;

export const TimesheetStatus = declareEnum('TimesheetStatus', 'Review state of a timesheet.', [
  'APPROVED_1',
  'APPROVED_2',
  'REJECTED',
  'WAITING_REVIEW',
]);
export type TimesheetStatus = Value<typeof TimesheetStatus>;

export const ProfileType = declareEnum('ProfileType', 'Role of the person who filled the timesheet.', [
  'worker',
  'admin',
]);
export type ProfileType = Value<typeof ProfileType>;

export const DefectStatus = declareEnum('DefectStatus', 'State of a defect.', [
  'OPEN',
  'IN_PROGRESS',
  'READY_FOR_REVIEW',
  'CLOSED',
]);
export type DefectStatus = Value<typeof DefectStatus>;

export const DefectPriority = declareEnum('DefectPriority', 'Urgency of a defect.', ['LOW', 'MEDIUM', 'HIGH']);
export type DefectPriority = Value<typeof DefectPriority>;

export const AssigneeType = declareEnum('AssigneeType', 'What a defect is assigned to.', ['USER', 'COMPANY', 'TAG']);
export type AssigneeType = Value<typeof AssigneeType>;

export const MeetingStatus = declareEnum('MeetingStatus', 'State of a meeting.', [
  'DRAFT',
  'DISTRIBUTED',
  'RUNNING',
  'COMPLETED',
]);
export type MeetingStatus = Value<typeof MeetingStatus>;

export const SignOnType = declareEnum('SignOnType', 'Type of a sign-on event.', ['SIGN_ON', 'SIGN_OFF']);
export type SignOnType = Value<typeof SignOnType>;

export const SignOnStatus = declareEnum(
  'SignOnStatus',
  'Status of a sign-on event: applied to a visit, or kept until its sign-on arrives.',
  ['APPLIED', 'PENDING_SIGN_ON'],
);
export type SignOnStatus = Value<typeof SignOnStatus>;

export const SignOnEventStatus = declareEnum(
  'SignOnEventStatus',
  'Result of a sign-on event. `REJECTED` is a sign-off that waited for its sign-on and then contradicted it.',
  ['APPLIED', 'PENDING_SIGN_ON', 'REJECTED'],
);
export type SignOnEventStatus = Value<typeof SignOnEventStatus>;

export const SignOnConflictCode = declareEnum('SignOnConflictCode', 'Why a sign-on event was rejected with 409.', [
  'EVENT_MISMATCH',
  'WORKER_MISMATCH',
  'SIGN_ON_REQUIRED',
  'ALREADY_SIGNED_OFF',
  'ATTENDANCE_CLOSED',
]);
export type SignOnConflictCode = Value<typeof SignOnConflictCode>;

export const SignOnConflictStatus = declareEnum(
  'SignOnConflictStatus',
  'Whether a person has resolved the conflict of a sign-on event.',
  ['OPEN', 'RESOLVED'],
);
export type SignOnConflictStatus = Value<typeof SignOnConflictStatus>;

/** What a person decided about a conflict (CON-9). */
export const ConflictResolution = declareEnum(
  'ConflictResolution',
  'How a conflict was resolved: the recorded visit remains as it is, or it ends when the gate saw the worker leave.',
  ['KEEP_RECORD', 'USE_EVENT_TIME'],
);
export type ConflictResolution = Value<typeof ConflictResolution>;

export const SiteAccessStatus = declareEnum('SiteAccessStatus', 'Whether a worker may enter the site at present.', [
  'ACTIVE',
  'REVOKED',
]);

export const VisitAnomaly = declareEnum('VisitAnomaly', 'Why a visit needs a review.', ['SIGN_OFF_BEFORE_SIGN_ON']);
export type VisitAnomaly = Value<typeof VisitAnomaly>;

export const RenditionSize = declareEnum(
  'RenditionSize',
  'Size of a rendition. The longer side has at most 160 (`SMALL`), 640 (`MEDIUM`) or 1600 pixels (`LARGE`).',
  ['SMALL', 'MEDIUM', 'LARGE'],
);
export type RenditionSize = Value<typeof RenditionSize>;

export const PhotoSource = declareEnum('PhotoSource', 'The area that owns a photo.', [
  'GALLERY',
  'SITE_DIARY',
  'PRE_START',
  'CHECKLIST',
  'ITP',
  'PLATFORM_ACTION',
  'DEFECT',
]);
export type PhotoSource = Value<typeof PhotoSource>;

export const BlockType = declareEnum('BlockType', 'What a block of a Page document holds.', [
  'TEXT',
  'HEADING',
  'BULLETED_LIST',
  'ORDERED_LIST',
  'CHECKLIST',
  'IMAGE',
  'PAGE',
]);
export type BlockType = Value<typeof BlockType>;

export const TextMark = declareEnum('TextMark', 'Formatting of a run of text.', ['BOLD', 'ITALIC']);
export type TextMark = Value<typeof TextMark>;

export const ImageStatus = declareEnum('ImageStatus', 'Whether the image of a block has arrived as a photo.', [
  'SYNCED',
  'FAILED',
]);
export type ImageStatus = Value<typeof ImageStatus>;

export const PhotoReportStatus = declareEnum(
  'PhotoReportStatus',
  'Completeness of the report: `partial` when an image of its tree is `FAILED`.',
  ['synced', 'partial'],
);
export type PhotoReportStatus = Value<typeof PhotoReportStatus>;

export const PhotoReportArchiveStatus = declareEnum('PhotoReportArchiveStatus', 'State of an archived report.', [
  'archived',
]);
export type PhotoReportArchiveStatus = Value<typeof PhotoReportArchiveStatus>;

export const PhotoReportConflictCode = declareEnum(
  'PhotoReportConflictCode',
  'Why a photo report was rejected with 409.',
  ['STALE_REVISION', 'REVISION_CONFLICT', 'ATTACHMENT_CONFLICT', 'SOURCE_OWNERSHIP_REQUIRED'],
);
export type PhotoReportConflictCode = Value<typeof PhotoReportConflictCode>;

export const AttachmentType = declareEnum('AttachmentType', 'Purpose of an upload.', ['attachment']);
export type AttachmentType = Value<typeof AttachmentType>;

export const BulkDeleteStatus = declareEnum('BulkDeleteStatus', 'Always `deleted`.', ['deleted']);
export type BulkDeleteStatus = Value<typeof BulkDeleteStatus>;

export const CallerType = declareEnum('CallerType', 'Kind of caller.', ['client', 'user']);
export type CallerType = Value<typeof CallerType>;

export const RegionId = declareEnum('RegionId', 'Region of the account.', REGIONS);
export type RegionId = Value<typeof RegionId>;

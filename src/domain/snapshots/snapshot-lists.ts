import { PhotoSource } from '../../../schema/enums.ts';
import type { SnapshotResource } from '../../../schema/snapshot.scalars.ts';
import { meetings } from '../readers/meeting.reader.ts';
import { projects } from '../readers/project.reader.ts';
import { subcontractors } from '../readers/subcontractor.reader.ts';

/** The v1 list of a resource. */
interface SnapshotList {
  /** Root field of the schema. */
  field: string;
  /** Table with its records and their `builder_id`, for their number. */
  table: string;
  /** The records whose id is in the path of the list, and the argument that has it. */
  parents?: (typeof ofSubcontractor | typeof ofProject | typeof ofMeeting)['parents'];
  arguments?: Record<string, unknown>;
  /** Field with a signed URL, which a snapshot leaves out. */
  signedUrl?: string;
  /** Records of a page. Default: `PAGE_SIZE`. */
  pageSize?: number;
}

/** What a reader of lists has in place of each signed URL. */
export const SIGNED_URL = 'signed URL';

/** Records of a page, of about 250 KiB. */
export const PAGE_SIZE = 500;

/** For records with texts of up to a megabyte: as many as a page of v1. */
const LARGE_RECORDS = { pageSize: 25 };

const ofSubcontractor = { parents: { type: 'subcontractor', reader: subcontractors, argument: 'id' } };
const ofProject = { parents: { type: 'project', reader: projects, argument: 'projectId' } };
const ofMeeting = { parents: { type: 'meeting', reader: meetings, argument: 'meetingId' } };

export const SNAPSHOT_LISTS: Record<SnapshotResource, SnapshotList> = {
  projects: { field: 'projects', table: 'project' },
  subcontractors: { field: 'subcontractors', table: 'subcontractor', arguments: { includeBuilderCompany: true } },
  subcontractor_projects: {
    field: 'subcontractorProjects',
    table: 'subcontractor_project join subcontractor on subcontractor.id = subcontractor_id',
    ...ofSubcontractor,
  },
  swms_documents: { field: 'subcontractorSwms', table: 'swms_document', ...ofSubcontractor, signedUrl: 'url' },
  prequalifications: { field: 'subcontractorPrequalifications', table: 'prequalification', ...ofSubcontractor },
  insurances: { field: 'subcontractorInsurances', table: 'insurance', ...ofSubcontractor, signedUrl: 'url' },
  contacts: { field: 'subcontractorContacts', table: 'contact', ...ofSubcontractor },
  inductions: { field: 'projectInductions', table: 'induction', ...ofProject },
  timesheets: { field: 'timesheets', table: 'timesheet' },
  cost_codes: { field: 'costCodes', table: 'timesheet_cost_code' },
  time_types: { field: 'timeTypes', table: 'timesheet_time_type' },
  photo_folders: { field: 'photoFolders', table: 'photo_folder' },
  photos: { field: 'photos', table: 'photo', arguments: { source: Object.values(PhotoSource) }, signedUrl: 'imageUrl' },
  meetings: { field: 'meetings', table: 'meeting', ...LARGE_RECORDS },
  meeting_notes: { field: 'meetingNotes', table: 'meeting_note', ...ofMeeting, ...LARGE_RECORDS },
  defects: { field: 'defects', table: 'defect' },
};

import type { EntityClass } from '@mikro-orm/core';
import { AuthorizationCode } from '../../entities/authorization-code.entity.ts';
import { Builder } from '../../entities/builder.entity.ts';
import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Contact } from '../../entities/contact.entity.ts';
import { CostCode } from '../../entities/cost-code.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { ImageHost } from '../../entities/image-host.entity.ts';
import { Induction } from '../../entities/induction.entity.ts';
import { InductionAnswer } from '../../entities/induction-answer.type.ts';
import { Insurance } from '../../entities/insurance.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { ListTotal } from '../../entities/list-total.entity.ts';
import { Location } from '../../entities/location.entity.ts';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../entities/photo-report-page.entity.ts';
import { Prequalification } from '../../entities/prequalification.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { RateBudget } from '../../entities/rate-budget.entity.ts';
import { RefreshToken } from '../../entities/refresh-token.entity.ts';
import { RevokedToken } from '../../entities/revoked-token.entity.ts';
import { Session } from '../../entities/session.entity.ts';
import { SignInAttempt } from '../../entities/sign-in-attempt.entity.ts';
import { SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import { TokenFamily } from '../../entities/token-family.entity.ts';
import { Upload } from '../../entities/upload.entity.ts';
import { UploadUsage } from '../../entities/upload-usage.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { SubcontractorStatus } from '../../schema/enums.ts';
import type { FieldError } from '../shared/errors.ts';
import type { IdKind } from '../shared/ids.ts';
import { objectOf } from './contract.ts';
import { freeObject, httpsUrl, integer, list, object, oneOf, type Shape, text, textWhere } from './shapes.ts';

/** One file of the format. */
export interface Resource {
  /** Name of the file, without `.ndjson`. */
  file: string;
  entity: EntityClass<object>;
  /** Kind of the id; absent where a row is known by its unique foreign keys, and its number stays in the database. */
  id?: IdKind;
  /** Properties that no file carries: secrets. */
  withheld?: string[];
  /** Properties that are keys of stored bytes, and the folder of the storage that they stand in. */
  files?: Record<string, string>;
  /** Properties that the REST contract names otherwise. */
  names?: Record<string, string>;
  /** Lists of ids that lead to another file. */
  links?: Record<string, EntityClass<object>>;
  /** What a field of the file means, where the API's description does not fit it. */
  meanings?: Record<string, string>;
  /** What a value must look like beyond its column's type and its type in the API. */
  shapes?: Record<string, () => Shape>;
  /** What is wrong with a row whose fields are right one by one. */
  inspect?: (row: Record<string, unknown>) => FieldError[];
  whole?: Whole;
}

/** What holds of records together with those of other files, and is looked at once all are written. */
export interface Whole {
  /** SQL that gives what there is to look at of the records whose ids are `$1`, each with its `id`. */
  select: string;
  inspect: (found: never) => FieldError[];
}

const lowerCase = () => textWhere('lower-case text', 'must be in lower case', (value) => value === value.toLowerCase());
const digits = () => textWhere('digits', 'must be digits', (value) => /^\d+$/.test(value));
const sha256 = () =>
  textWhere('SHA-256 in hexadecimal', 'must be 64 hexadecimal digits', (value) => /^[0-9a-f]{64}$/.test(value));
const address = () => httpsUrl;
const templateResponse = () =>
  object({
    preface: { shape: text, nullable: true },
    sections: list(object({ id: text, title: text, text })),
    syncedNotes: list(object({ noteId: text, text })),
  });
const noteBlocks = () => list(object({ noteId: text, start: integer, text }));

/**
 * Every file, parents before children. Integrators are there because events, meetings and notes are known by theirs:
 * without it, its next sync would make each of them a second time. What they sign in with stays.
 */
export const resources: Resource[] = [
  { file: 'integrators', entity: Integrator, id: 'integrator' },
  {
    file: 'builders',
    entity: Builder,
    id: 'builder',
    files: { logoKey: 'logos' },
    shapes: { logoUrl: address },
    meanings: {
      logoUrl: 'Address of the logo on another host: kept and exported, never served. Only a `logoKey` is shown.',
    },
  },
  {
    file: 'users',
    entity: User,
    id: 'user',
    withheld: ['passwordHash'],
    files: { pictureKey: 'pictures' },
    shapes: { email: lowerCase },
  },
  { file: 'memberships', entity: Membership },
  { file: 'projects', entity: Project, id: 'project' },
  { file: 'subcontractors', entity: Subcontractor, id: 'subcontractor', shapes: { abn: digits } },
  {
    file: 'subcontractor-projects',
    entity: SubcontractorProject,
    shapes: { statuses: () => list(oneOf(Object.values(SubcontractorStatus))) },
  },
  { file: 'swms', entity: SwmsDocument, id: 'swms', files: { documentKey: 'documents' }, shapes: { url: address } },
  { file: 'prequalifications', entity: Prequalification, id: 'prequalification' },
  {
    file: 'insurances',
    entity: Insurance,
    id: 'insurance',
    files: { documentKey: 'documents' },
    shapes: { url: address },
  },
  { file: 'contacts', entity: Contact, id: 'contact', links: { projectIds: Project } },
  { file: 'workers', entity: Worker, id: 'worker' },
  { file: 'site-accesses', entity: SiteAccess },
  { file: 'sign-on-visits', entity: SignOnVisit, id: 'signOnVisit' },
  { file: 'sign-on-events', entity: SignOnEvent, id: 'signOnEvent' },
  { file: 'sign-on-conflicts', entity: SignOnConflict, shapes: { digest: sha256 } },
  {
    file: 'inductions',
    entity: Induction,
    id: 'induction',
    shapes: { data: () => list(objectOf(InductionAnswer)) },
  },
  { file: 'profiles', entity: Profile, id: 'profile' },
  { file: 'cost-codes', entity: CostCode, id: 'costCode' },
  { file: 'time-types', entity: TimeType, id: 'timeType' },
  { file: 'timesheets', entity: Timesheet, id: 'timesheet' },
  { file: 'locations', entity: Location, id: 'location' },
  { file: 'defects', entity: Defect, id: 'defect' },
  { file: 'meeting-templates', entity: MeetingTemplate, id: 'meetingTemplate' },
  {
    file: 'meetings',
    entity: Meeting,
    id: 'meeting',
    names: { plainNotes: 'notes' },
    shapes: { templateResponse, noteBlocks },
    meanings: {
      plainNotes: 'Notes of a meeting without a template.',
      noteBlocks: 'What synced notes have written into `notes`, and where: UTF-16 units from its start.',
      templateResponse: 'What was written in a meeting with a template, by people and by integrators.',
      integratorId: 'The integrator that made it.',
      sourceApp: 'Application of the integrator.',
      externalSourceId: 'Identifier of the meeting there.',
    },
  },
  { file: 'meeting-notes', entity: MeetingNote, id: 'meetingNote' },
  {
    file: 'photo-folders',
    entity: PhotoFolder,
    id: 'folder',
    meanings: {
      integratorId: 'The integrator whose sync has made it, with `sourceApp` and `pageExternalSourceId`.',
      archivedAt: 'When it was deleted.',
    },
  },
  {
    file: 'photos',
    entity: Photo,
    id: 'attachment',
    files: { key: 'photos' },
    meanings: { integratorId: 'The integrator that made it, with what it calls the photo.' },
  },
  {
    file: 'photo-reports',
    entity: PhotoReport,
    id: 'photoReport',
    shapes: { fingerprint: sha256, content: () => freeObject },
    meanings: {
      integratorId: 'The integrator that synced it first.',
      fingerprint: 'SHA-256 of `content` in canonical JSON (RFC 8785).',
      content: 'The request of the sync that was last committed, without its `sourceRevision`.',
    },
  },
  {
    file: 'photo-report-pages',
    entity: PhotoReportPage,
    id: 'page',
    shapes: { pathDigest: sha256 },
    meanings: {
      parentId: 'The page around it; null for the root.',
      path: 'The `sourceBlockId`s from the root to the page.',
      pathDigest: 'SHA-256 of `path` as JSON without spaces.',
    },
  },
];

/** The same resources for a storage: a row is good only where the bytes that it names are there. */
export function resourcesOver(hasFile: (key: string) => boolean): Resource[] {
  return resources.map((resource) => {
    const files = Object.entries(resource.files ?? {}).map(([property, folder]) => {
      const message = `must name a file under files/${folder}/, or one of the storage`;
      return [
        property,
        () => textWhere('text', message, (key) => key.startsWith(`${folder}/`) && hasFile(key)),
      ] as const;
    });
    return { ...resource, shapes: { ...resource.shapes, ...Object.fromEntries(files) } };
  });
}

/** Tables that stay where they are: credentials, what was granted to them, and what the service counts for itself. */
export const excluded: EntityClass<object>[] = [
  OAuthClient,
  ClientSecret,
  Connection,
  TokenFamily,
  AuthorizationCode,
  RefreshToken,
  RevokedToken,
  Session,
  SignInAttempt,
  RateBudget,
  ListTotal,
  UploadUsage,
  ImageHost,
  Upload,
];

import type { EntityClass } from '@mikro-orm/core';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { Builder } from '../../entities/builder.entity.ts';
import { Contact } from '../../entities/contact.entity.ts';
import { CostCode } from '../../entities/cost-code.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { Erasure } from '../../entities/erasure.entity.ts';
import { entities } from '../../entities/index.ts';
import { Induction } from '../../entities/induction.entity.ts';
import { InductionAnswer } from '../../entities/induction-answer.type.ts';
import { Insurance } from '../../entities/insurance.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { Location } from '../../entities/location.entity.ts';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../entities/photo-report-page.entity.ts';
import { Prequalification } from '../../entities/prequalification.entity.ts';
import { Profile } from '../../entities/profile.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import { TimeType } from '../../entities/time-type.entity.ts';
import { Timesheet } from '../../entities/timesheet.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { WebhookDelivery } from '../../entities/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../../entities/webhook-endpoint.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { SubcontractorStatus } from '../../schema/enums.ts';
import { findIdKind, type IdKind } from '../../schema/ids.ts';
import type { FieldError } from '../shared/errors.ts';
import { createObjectType } from './contract-fields.ts';
import {
  createEnumType,
  createTextType,
  deepLinkScheme,
  digits,
  emailAddress,
  type FieldType,
  httpsUrl,
  integer,
  jsonObject,
  list,
  mediaType,
  object,
  sha256,
  text,
} from './field-types.ts';

/** One file of the transfer format. */
export interface FileDefinition {
  /** Name of the file, without `.ndjson`. */
  file: string;
  entity: EntityClass<object>;
  /** Kind of the id; absent if rows are identified by unique foreign keys. */
  id?: IdKind;
  /** Properties that are neither exported nor imported. */
  secretFields?: string[];
  /** SQL condition of the rows that are exported. Default: all. */
  exported?: string;
  /** Properties that keep the stored value where a row has none. */
  keptFields?: string[];
  /** Properties that are storage keys, with their folder in the storage. */
  storageKeys?: Record<string, string>;
  /** Names of fields in the file that differ from the property. */
  fieldNames?: Record<string, string>;
  /** Properties that are lists of ids of another entity. */
  listReferences?: Record<string, EntityClass<object>>;
  /** Descriptions that replace those of the API. */
  descriptions?: Record<string, string>;
  /** Validation that replaces that of the column's type and of the API. */
  fieldTypes?: Record<string, () => FieldType>;
  /** Changes a row of an earlier version to what is written now, before it is validated. */
  normalizeRow?: (row: Record<string, unknown>) => void;
  /** Validates a row whose fields are valid individually. */
  validateRow?: (row: Record<string, unknown>) => FieldError[];
  crossRecordRule?: CrossRecordRule;
}

/** A rule for a record together with records of other files, checked after all files are written. */
export interface CrossRecordRule {
  /** SQL that selects the data to validate for the records with the ids `$1`; a row has an `id`. */
  select: string;
  validate: (record: never) => FieldError[];
}

const templateResponse = () =>
  object({
    preface: { fieldType: text, nullable: true },
    sections: list(object({ id: text, title: text, text })),
    syncedNotes: list(object({ noteId: text, text })),
  });
const noteBlocks = () => list(object({ noteId: text, start: integer, text }));

/**
 * Files that need more than their name, entity and kind of id, and those whose place in the order matters: parents come before children. The
 * others follow in `defaultFiles`. Integrators are included, because the next sync would otherwise create the events, meetings and notes of an
 * integrator again. Credentials are not transferred.
 */
const declaredFiles: FileDefinition[] = [
  {
    file: 'integrators',
    entity: Integrator,
    id: 'integrator',
    fieldTypes: { deepLinkSchemes: () => list(deepLinkScheme) },
  },
  {
    file: 'builders',
    entity: Builder,
    id: 'builder',
    storageKeys: { logoKey: 'logos' },
    fieldTypes: { logoUrl: () => httpsUrl },
    descriptions: {
      logoUrl: 'Address of the logo on another host: kept and exported, never served. Only a `logoKey` is shown.',
      timeZone: 'Time zone of its days in the console and on pages of reports; null for that of the region.',
    },
  },
  {
    file: 'users',
    entity: User,
    id: 'user',
    secretFields: ['passwordHash', 'staffRole'],
    exported: 'staff_role is null',
    keptFields: ['disabledAt'],
    descriptions: { disabledAt: 'Absent or null: as it is, because an import enables nobody.' },
    storageKeys: { pictureKey: 'pictures' },
    fieldTypes: { email: () => emailAddress },
  },
  { file: 'memberships', entity: Membership },
  { file: 'projects', entity: Project, id: 'project' },
  { file: 'subcontractors', entity: Subcontractor, id: 'subcontractor', fieldTypes: { abn: () => digits } },
  {
    file: 'subcontractor-projects',
    entity: SubcontractorProject,
    fieldTypes: { statuses: () => list(createEnumType(Object.values(SubcontractorStatus))) },
  },
  {
    file: 'swms',
    entity: SwmsDocument,
    id: 'swms',
    storageKeys: { documentKey: 'documents' },
    fieldTypes: { url: () => httpsUrl },
  },
  { file: 'prequalifications', entity: Prequalification, id: 'prequalification' },
  {
    file: 'insurances',
    entity: Insurance,
    id: 'insurance',
    storageKeys: { documentKey: 'documents' },
    fieldTypes: { url: () => httpsUrl },
  },
  { file: 'contacts', entity: Contact, id: 'contact', listReferences: { projectIds: Project } },
  { file: 'workers', entity: Worker, id: 'worker' },
  { file: 'site-accesses', entity: SiteAccess },
  { file: 'sign-on-visits', entity: SignOnVisit, id: 'signOnVisit' },
  { file: 'sign-on-events', entity: SignOnEvent, id: 'signOnEvent' },
  { file: 'sign-on-conflicts', entity: SignOnConflict, fieldTypes: { digest: () => sha256 } },
  {
    file: 'inductions',
    entity: Induction,
    id: 'induction',
    fieldTypes: { data: () => list(createObjectType(InductionAnswer)) },
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
    fieldNames: { plainNotes: 'notes' },
    fieldTypes: { templateResponse, noteBlocks },
    descriptions: {
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
    descriptions: {
      integratorId: 'The integrator whose sync has made it, with `sourceApp` and `pageExternalSourceId`.',
      archivedAt: 'When it was deleted.',
    },
  },
  {
    file: 'photos',
    entity: Photo,
    id: 'attachment',
    storageKeys: { key: 'photos' },
    fieldTypes: { contentType: () => mediaType },
    descriptions: { integratorId: 'The integrator that made it, with what it calls the photo.' },
  },
  {
    file: 'photo-reports',
    entity: PhotoReport,
    id: 'photoReport',
    fieldTypes: { fingerprint: () => sha256, content: () => jsonObject },
    descriptions: {
      integratorId: 'The integrator that synced it first.',
      fingerprint: 'SHA-256 of `content` in canonical JSON (RFC 8785).',
      content: 'The request of the sync that was last committed, without its `sourceRevision`.',
    },
  },
  {
    file: 'photo-report-pages',
    entity: PhotoReportPage,
    id: 'page',
    fieldTypes: { pathDigest: () => sha256 },
    descriptions: {
      parentId: 'The page around it; null for the root.',
      path: 'The `sourceBlockId`s from the root to the page.',
      pathDigest: 'SHA-256 of `path` as JSON without spaces.',
    },
  },
];

/** Entities with an identifier that are not transferred. One without an identifier is transferred only if it is declared above. */
const excludedEntities: EntityClass<object>[] = [AuditEntry, Erasure, WebhookEndpoint, WebhookDelivery];

/** Every file, parents before children: those declared above, then one for each other entity that has an identifier of its own. */
export const fileDefinitions: FileDefinition[] = [...declaredFiles, ...defaultFiles()];

function defaultFiles(): FileDefinition[] {
  const declared = new Set([...declaredFiles.map(({ entity }) => entity), ...excludedEntities]);
  const others = (entities as EntityClass<object>[]).filter((entity) => !declared.has(entity));
  return others.flatMap((entity) => {
    const id = findIdKind(entity.name);
    return id === null ? [] : [{ file: toFileName(entity.name), entity, id }];
  });
}

/** Returns the file of an entity: `site-deliveries` for `SiteDelivery`. */
function toFileName(entity: string): string {
  return `${entity.replace(/(?!^)[A-Z]/g, '-$&').toLowerCase()}s`.replace(/([^aeiou])ys$/, '$1ies');
}

/** Whether a row may name the storage key: one of its builder, or of its own where it has no builder. */
export function isOwnKey(key: string, folder: string, { builderId, id }: Record<string, unknown>): boolean {
  const [first, owner] = key.split('/');
  return first === folder && owner === (builderId ?? id);
}

/** Returns the file definitions with a check that the files which rows refer to are stored. */
export function requireStoredFiles(hasFile: (key: string) => boolean): FileDefinition[] {
  return fileDefinitions.map((definition) => {
    const files = Object.entries(definition.storageKeys ?? {}).map(([property, folder]) => {
      const owner = definition.id === 'builder' || definition.id === 'user' ? 'its own id' : 'the id of its builder';
      const message = `must name a file under files/${folder}/, in the folder of ${owner}, or one of the storage there`;
      return [property, () => createTextType('text', message, hasFile)] as const;
    });
    return { ...definition, fieldTypes: { ...definition.fieldTypes, ...Object.fromEntries(files) } };
  });
}

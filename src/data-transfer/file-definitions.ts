import type { EntityClass } from '@mikro-orm/core';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { Builder } from '../../entities/builder.entity.ts';
import { Contact } from '../../entities/contact.entity.ts';
import { Erasure } from '../../entities/erasure.entity.ts';
import { entities } from '../../entities/index.ts';
import { Induction } from '../../entities/induction.entity.ts';
import { InductionAnswer } from '../../entities/induction-answer.type.ts';
import { Insurance } from '../../entities/insurance.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingNote } from '../../entities/meeting-note.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { PhotoReport } from '../../entities/photo-report.entity.ts';
import { PhotoReportPage } from '../../entities/photo-report-page.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SignOnConflict } from '../../entities/sign-on-conflict.entity.ts';
import { SiteAccess } from '../../entities/site-access.entity.ts';
import { Snapshot } from '../../entities/snapshot.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import { SwmsDocument } from '../../entities/swms-document.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { WebhookDelivery } from '../../entities/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../../entities/webhook-endpoint.entity.ts';
import { SubcontractorStatus } from '../../schema/enums.ts';
import { findIdKind, type IdKind } from '../../schema/ids.ts';
import { isOfErased, NO_DOMAIN } from '../domain/access/access-values.ts';
import { NoteDeepLink, NoteWebLink } from '../domain/meetings/note-links.ts';
import {
  normalizeReportRow,
  REPORTS_WITH_PAGES,
  validatePageRow,
  validateReportRow,
  validateReportWithPages,
} from '../domain/photo-reports/stored-report.ts';
import type { FieldError } from '../shared/errors.ts';
import { createObjectType, toScalarFieldType } from './contract-fields.ts';
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
  exportCondition?: string;
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

/** What files need beyond their name, kind of id and columns. An entity without an identifier is transferred only if it is declared here. */
const declarations: (Partial<FileDefinition> & Pick<FileDefinition, 'entity'>)[] = [
  { entity: Integrator, fieldTypes: { deepLinkSchemes: () => list(deepLinkScheme) } },
  {
    entity: Builder,
    storageKeys: { logoKey: 'logos' },
    // 0.1.0 exports addresses on other hosts, which were never shown.
    normalizeRow: (row) => delete row.logoUrl,
    descriptions: {
      timeZone: 'Time zone of its days in the console and on pages of reports; null for that of the region.',
    },
  },
  {
    entity: User,
    secretFields: ['passwordHash', 'staffRole', 'oidcIssuer', 'oidcSubject'],
    exportCondition: 'staff_role is null',
    keptFields: ['disabledAt'],
    descriptions: { disabledAt: 'Absent or null: as it is, because an import enables nobody.' },
    storageKeys: { pictureKey: 'pictures' },
    fieldTypes: { email: () => emailAddress },
    validateRow: ({ id, email }) =>
      isOfErased(`${email}`) && email !== `${id}${NO_DOMAIN}`
        ? [{ fieldName: 'email', message: 'is an address of another user, who was erased' }]
        : [],
  },
  { entity: Membership },
  { entity: Subcontractor, fieldTypes: { abn: () => digits } },
  {
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
  { entity: Insurance, storageKeys: { documentKey: 'documents' }, fieldTypes: { url: () => httpsUrl } },
  { entity: Contact, listReferences: { projectIds: Project } },
  { file: 'site-accesses', entity: SiteAccess },
  { entity: SignOnConflict, fieldTypes: { digest: () => sha256 } },
  { entity: Induction, fieldTypes: { data: () => list(createObjectType(InductionAnswer)) } },
  {
    entity: Meeting,
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
  {
    entity: MeetingNote,
    fieldTypes: {
      sourceDeepLink: () => toScalarFieldType(NoteDeepLink),
      sourceWebLink: () => toScalarFieldType(NoteWebLink),
    },
  },
  {
    entity: PhotoFolder,
    id: 'folder',
    descriptions: {
      integratorId: 'The integrator whose sync has made it, with `sourceApp` and `pageExternalSourceId`.',
      archivedAt: 'When it was deleted.',
    },
  },
  {
    entity: Photo,
    id: 'attachment',
    storageKeys: { key: 'photos' },
    fieldTypes: { contentType: () => mediaType },
    descriptions: { integratorId: 'The integrator that made it, with what it calls the photo.' },
  },
  {
    entity: PhotoReport,
    // The rules of a sync.
    normalizeRow: normalizeReportRow,
    validateRow: validateReportRow,
    crossRecordRule: { select: REPORTS_WITH_PAGES, validate: validateReportWithPages as CrossRecordRule['validate'] },
    fieldTypes: { fingerprint: () => sha256, content: () => jsonObject },
    descriptions: {
      integratorId: 'The integrator that synced it first.',
      fingerprint: 'SHA-256 of `content` in canonical JSON (RFC 8785).',
      content: 'The request of the sync that was last committed, without its `sourceRevision`.',
    },
  },
  {
    entity: PhotoReportPage,
    validateRow: validatePageRow,
    id: 'page',
    fieldTypes: { pathDigest: () => sha256 },
    descriptions: {
      parentId: 'The page around it; null for the root.',
      path: 'The `sourceBlockId`s from the root to the page.',
      pathDigest: 'SHA-256 of `path` as JSON without spaces.',
    },
  },
];

/** Entities with an identifier that are not transferred. */
const excludedEntities: EntityClass<object>[] = [AuditEntry, Erasure, Snapshot, WebhookEndpoint, WebhookDelivery];

/**
 * Every file, parents before children: one for each entity that is declared above or has an identifier of its own. Integrators are included,
 * because the next sync would otherwise create the events, meetings and notes of an integrator again. Credentials are not transferred.
 */
export const fileDefinitions: FileDefinition[] = (entities as EntityClass<object>[]).flatMap((entity) => {
  const declaration = declarations.find((each) => each.entity === entity);
  const id = findIdKind(entity.name) ?? undefined;
  const isTransferred = declaration !== undefined || (id !== undefined && !excludedEntities.includes(entity));
  return isTransferred ? [{ file: toFileName(entity.name), entity, id, ...declaration }] : [];
});

/** Returns the file of an entity: `site-deliveries` for `SiteDelivery`. */
function toFileName(entity: string): string {
  return `${entity.replace(/(?!^)[A-Z]/g, '-$&').toLowerCase()}s`.replace(/([^aeiou])ys$/, '$1ies');
}

/** Subfolder of an export with the files that its rows refer to, each under its storage key. */
export const STORED_FILES = 'files';

/** Whether files of the rows are in a folder of their own id. Those of others are in that of their builder. */
const hasOwnFolder = ({ id }: FileDefinition) => id === 'builder' || id === 'user';

/** Whether a row may name the storage key. It may have properties that its table has not. */
export function isOwnKey(
  key: string,
  folder: string,
  definition: FileDefinition,
  row: Record<string, unknown>,
): boolean {
  const [first, owner] = key.split('/');
  return first === folder && owner === (hasOwnFolder(definition) ? row.id : row.builderId);
}

/** Returns the file definitions with a check that the files which rows refer to are stored. */
export const requireStoredFiles = (hasFile: (key: string) => boolean): FileDefinition[] =>
  fileDefinitions.map((definition) => {
    const files = Object.entries(definition.storageKeys ?? {}).map(([property, folder]) => {
      const owner = hasOwnFolder(definition) ? 'its own id' : 'the id of its builder';
      const kind = folder === 'photos' ? 'file of fileSize bytes' : 'file';
      const message = `must name a ${kind} under files/${folder}/, in the folder of ${owner}, or one of the storage there`;
      return [property, () => createTextType('text', message, hasFile)] as const;
    });
    return { ...definition, fieldTypes: { ...definition.fieldTypes, ...Object.fromEntries(files) } };
  });

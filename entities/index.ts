import { AuditEntry } from './audit-entry.entity.ts';
import { AuthorizationCode } from './authorization-code.entity.ts';
import { Builder } from './builder.entity.ts';
import { ClientSecret } from './client-secret.entity.ts';
import { Connection } from './connection.entity.ts';
import { ConsoleSession } from './console-session.entity.ts';
import { Contact } from './contact.entity.ts';
import { CostCode } from './cost-code.entity.ts';
import { Defect } from './defect.entity.ts';
import { Erasure } from './erasure.entity.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import { ImageHost } from './image-host.entity.ts';
import { Induction } from './induction.entity.ts';
import { Insurance } from './insurance.entity.ts';
import { Integrator } from './integrator.entity.ts';
import { ListTotal } from './list-total.entity.ts';
import { Location } from './location.entity.ts';
import { Meeting } from './meeting.entity.ts';
import { MeetingNote } from './meeting-note.entity.ts';
import { MeetingTemplate } from './meeting-template.entity.ts';
import { Membership } from './membership.entity.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PasswordLink } from './password-link.entity.ts';
import { Photo } from './photo.entity.ts';
import { PhotoFolder } from './photo-folder.entity.ts';
import { PhotoRendition } from './photo-rendition.entity.ts';
import { PhotoReport } from './photo-report.entity.ts';
import { PhotoReportPage } from './photo-report-page.entity.ts';
import { Prequalification } from './prequalification.entity.ts';
import { Profile } from './profile.entity.ts';
import { Project } from './project.entity.ts';
import { RateBudget } from './rate-budget.entity.ts';
import { RefreshToken } from './refresh-token.entity.ts';
import { RevokedToken } from './revoked-token.entity.ts';
import { Session } from './session.entity.ts';
import { SignInAttempt } from './sign-in-attempt.entity.ts';
import { SignOnConflict } from './sign-on-conflict.entity.ts';
import { SignOnEvent } from './sign-on-event.entity.ts';
import { SignOnVisit } from './sign-on-visit.entity.ts';
import { SiteAccess } from './site-access.entity.ts';
import { Snapshot } from './snapshot.entity.ts';
import { Subcontractor } from './subcontractor.entity.ts';
import { SubcontractorProject } from './subcontractor-project.entity.ts';
import { SwmsDocument } from './swms-document.entity.ts';
import { TimeType } from './time-type.entity.ts';
import { Timesheet } from './timesheet.entity.ts';
import { TokenFamily } from './token-family.entity.ts';
import { Upload } from './upload.entity.ts';
import { LoggedRequest, UsageDay } from './usage.entity.ts';
import { User } from './user.entity.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import { WebhookEndpoint } from './webhook-endpoint.entity.ts';
import { WebhookProgress } from './webhook-progress.entity.ts';
import { Worker } from './worker.entity.ts';

/** All tables, referenced tables first. */
export const entities = [
  Integrator,
  OAuthClient,
  ClientSecret,
  Builder,
  Connection,
  User,
  Membership,
  TokenFamily,
  AuthorizationCode,
  RefreshToken,
  RevokedToken,
  Session,
  ConsoleSession,
  UsageDay,
  LoggedRequest,
  PasswordLink,
  SignInAttempt,
  AuditEntry,
  Erasure,
  Project,
  ListTotal,
  Profile,
  CostCode,
  TimeType,
  Timesheet,
  Subcontractor,
  SubcontractorProject,
  SwmsDocument,
  Prequalification,
  Insurance,
  Contact,
  Worker,
  SiteAccess,
  SignOnVisit,
  SignOnEvent,
  SignOnConflict,
  Induction,
  RateBudget,
  IdempotencyKey,
  Location,
  Defect,
  MeetingTemplate,
  Meeting,
  MeetingNote,
  PhotoFolder,
  Photo,
  PhotoRendition,
  Upload,
  ImageHost,
  PhotoReport,
  PhotoReportPage,
  Snapshot,
  WebhookEndpoint,
  WebhookProgress,
  WebhookDelivery,
];

import { Migration } from '@mikro-orm/migrations';

export class Migration20261120173400Initial extends Migration {
  override name = 'Migration20261120173400Initial';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "builder" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "name" text not null, "logo_url" text null, "logo_key" text null, primary key ("id"));`,
    );

    this.addSql(
      `create table "timesheet_cost_code" ("id" text not null, "builder_id" text not null, "code" text not null, "description" text not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "timesheet_cost_code" add constraint "timesheet_cost_code_builder_id_code_unique" unique ("builder_id", "code");`,
    );

    this.addSql(
      `create table "image_host" ("host" text not null, "created_at" timestamptz(3) not null, primary key ("host"));`,
    );

    this.addSql(
      `create table "integrator" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "name" text not null, "deep_link_schemes" text[] not null default '{}', primary key ("id"));`,
    );

    this.addSql(
      `create table "connection" ("id" serial primary key, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "integrator_id" text not null, "builder_id" text not null, "status" text not null, "scopes" text[] not null);`,
    );
    this.addSql(
      `alter table "connection" add constraint "connection_integrator_id_builder_id_unique" unique ("integrator_id", "builder_id");`,
    );

    this.addSql(
      `create table "meeting_template" ("id" text not null, "builder_id" text not null, "name" text not null, "sections" jsonb not null default '[]', primary key ("id"));`,
    );
    this.addSql(`create index "meeting_template_builder_id_index" on "meeting_template" ("builder_id");`);

    this.addSql(
      `create table "oauth_client" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "integrator_id" text null, "name" text not null, "type" text not null, "internal" boolean not null default false, "grants" text[] not null, "scopes" text[] not null, "redirect_uris" text[] not null default '{}', "origins" text[] not null default '{}', "pilot_agreement" text null, "disabled_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "oauth_client_integrator_id_index" on "oauth_client" ("integrator_id");`);

    this.addSql(
      `create table "oauth_client_secret" ("id" serial primary key, "client_id" text not null, "digest" text not null, "created_at" timestamptz(3) not null);`,
    );
    this.addSql(
      `alter table "oauth_client_secret" add constraint "oauth_client_secret_client_id_digest_unique" unique ("client_id", "digest");`,
    );

    this.addSql(
      `create table "person_profile" ("id" text not null, "builder_id" text not null, "full_name" text not null, "type" text not null, primary key ("id"));`,
    );
    this.addSql(`create index "person_profile_builder_id_index" on "person_profile" ("builder_id");`);

    this.addSql(
      `create table "project" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "status" text not null, "name" text not null, "integrations" jsonb not null default '[]', primary key ("id"));`,
    );
    this.addSql(
      `create index "project_builder_id_created_at_id_index" on "project" ("builder_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "photo_folder" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "project_id" text null, "parent_id" text null, "name" text not null, "integrator_id" text null, "source_app" text null, "page_external_source_id" text null, "archived_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "photo_folder_parent_id_created_at_id_index" on "photo_folder" ("parent_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "photo_folder_project_id_created_at_id_index" on "photo_folder" ("project_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "photo_folder_builder_id_created_at_id_index" on "photo_folder" ("builder_id", "created_at", "id");`,
    );
    this.addSql(`create unique index "photo_folder_page_unique" on "photo_folder"
    ("builder_id", "project_id", "integrator_id", "source_app", "page_external_source_id") nulls not distinct
    where "page_external_source_id" is not null and "archived_at" is null;`);

    this.addSql(
      `create table "photo" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "project_id" text null, "source" text not null, "folder_id" text null, "file_name" text not null, "content_type" text not null, "key" text not null, "file_size" int not null, "description" text null, "photo_taken_date" timestamptz(3) null, "sort_date" timestamptz(3) not null, "metadata" jsonb not null default '{}', "archived_at" timestamptz(3) null, "integrator_id" text null, "source_app" text null, "page_external_source_id" text null, "external_source_id" text null, primary key ("id"));`,
    );
    this.addSql(`create index "photo_key_index" on "photo" ("key");`);
    this.addSql(`create index "photo_folder_id_created_at_id_index" on "photo" ("folder_id", "created_at", "id");`);
    this.addSql(`create index "photo_project_id_created_at_id_index" on "photo" ("project_id", "created_at", "id");`);
    this.addSql(`create index "photo_builder_id_created_at_id_index" on "photo" ("builder_id", "created_at", "id");`);
    this.addSql(`create unique index "photo_page_source_unique" on "photo"
    ("builder_id", "integrator_id", "source_app", "page_external_source_id", "external_source_id") nulls not distinct
    where "page_external_source_id" is not null and "archived_at" is null;`);
    this.addSql(`create unique index "photo_source_unique" on "photo" ("builder_id", "integrator_id", "external_source_id")
    nulls not distinct
    where "external_source_id" is not null and "page_external_source_id" is null and "archived_at" is null;`);

    this.addSql(
      `create table "meeting" ("id" text not null, "updated_at" timestamptz(3) not null, "created_at" timestamptz(3) not null, "builder_id" text not null, "project_id" text null, "title" text not null, "date" timestamptz(3) not null, "status" text not null, "agenda" text null, "notes" text null, "note_blocks" jsonb not null default '[]', "template_id" text null, "template_response" jsonb null, "integrator_id" text null, "source_app" text null, "external_source_id" text null, primary key ("id"));`,
    );
    this.addSql(`create index "meeting_builder_id_date_index" on "meeting" ("builder_id", "date");`);
    this.addSql(
      `create index "meeting_project_id_created_at_id_index" on "meeting" ("project_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "meeting_builder_id_created_at_id_index" on "meeting" ("builder_id", "created_at", "id");`,
    );
    this.addSql(
      `alter table "meeting" add constraint "meeting_integrator_id_builder_id_source_app_exter_bbc2f_unique" unique ("integrator_id", "builder_id", "source_app", "external_source_id");`,
    );

    this.addSql(
      `create table "meeting_note" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "meeting_id" text not null, "integrator_id" text null, "source_app" text null, "external_source_id" text not null, "source_deep_link" text null, "source_web_link" text null, "title" text null, "summary_markdown" text null, "detail_blocks" jsonb not null default '[]', "action_items" jsonb not null default '[]', "captured_started_at" timestamptz(3) null, "captured_ended_at" timestamptz(3) null, "archived_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "meeting_note_meeting_id_created_at_id_index" on "meeting_note" ("meeting_id", "created_at", "id");`,
    );
    this.addSql(`create unique index "meeting_note_identity_unique" on "meeting_note"
    ("integrator_id", "meeting_id", "source_app", "external_source_id") nulls not distinct;`);

    this.addSql(
      `create table "project_location" ("id" text not null, "builder_id" text not null, "project_id" text not null, "name" text not null, primary key ("id"));`,
    );
    this.addSql(`create index "project_location_project_id_index" on "project_location" ("project_id");`);

    this.addSql(
      `create table "defect" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "identifier" int not null, "builder_id" text not null, "project_id" text not null, "title" text not null, "description" text null, "status" text not null, "priority" text not null, "due_date" timestamptz(3) null, "location_id" text null, "assignees" jsonb not null default '[]', "photo_ids" text[] not null default '{}', "closed_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "defect_project_id_created_at_id_index" on "defect" ("project_id", "created_at", "id");`);
    this.addSql(`create index "defect_builder_id_created_at_id_index" on "defect" ("builder_id", "created_at", "id");`);
    this.addSql(
      `alter table "defect" add constraint "defect_project_id_identifier_unique" unique ("project_id", "identifier");`,
    );

    this.addSql(
      `create unlogged table "rate_budget" ("key" text not null, "window_end" timestamptz(3) not null, "leased" int not null, primary key ("key", "window_end"));`,
    );

    this.addSql(
      `create table "oauth_revoked_token" ("jti" text not null, "expires_at" timestamptz(3) not null, primary key ("jti"));`,
    );
    this.addSql(`create index "oauth_revoked_token_expires_at_index" on "oauth_revoked_token" ("expires_at");`);

    this.addSql(
      `create table "oauth_sign_in_attempt" ("key" text not null, "failures" int not null, "retry_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("key"));`,
    );
    this.addSql(`create index "oauth_sign_in_attempt_expires_at_index" on "oauth_sign_in_attempt" ("expires_at");`);

    this.addSql(
      `create table "subcontractor" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "name" text not null, "abn" text null, "is_builder" boolean not null default false, "address" jsonb not null default '{}', "tags" text[] not null default '{}', "integrations" jsonb not null default '[]', "archived_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "subcontractor_builder_id_created_at_id_index" on "subcontractor" ("builder_id", "created_at", "id") include ("is_builder") where archived_at is null;`,
    );
    this.addSql(
      `create unique index "subcontractor_company_unique" on "subcontractor" ("builder_id") where is_builder and archived_at is null;`,
    );

    this.addSql(
      `create table "prequalification" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "subcontractor_id" text not null, "status" text not null, "review_comments" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "prequalification_subcontractor_id_created_at_id_index" on "prequalification" ("subcontractor_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "insurance" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "subcontractor_id" text not null, "name" text not null, "type" text not null, "custom_type" text null, "status" text not null, "expiry" timestamptz(3) null, "url" text null, "document_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "insurance_builder_id_created_at_id_index" on "insurance" ("builder_id", "created_at", "id");`,
    );
    this.addSql(`create index "insurance_builder_id_expiry_index" on "insurance" ("builder_id", "expiry");`);
    this.addSql(
      `create index "insurance_subcontractor_id_created_at_id_index" on "insurance" ("subcontractor_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "contact" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "subcontractor_id" text not null, "name" text not null, "email" text null, "phone" text null, "is_primary" boolean not null default false, "type" text not null, "project_ids" text[] not null default '{}', primary key ("id"));`,
    );
    this.addSql(
      `create index "contact_subcontractor_id_created_at_id_index" on "contact" ("subcontractor_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "subcontractor_project" ("id" serial primary key, "subcontractor_id" text not null, "project_id" text not null, "statuses" text[] not null default '{}');`,
    );
    this.addSql(
      `create index "subcontractor_project_project_id_subcontractor_id_index" on "subcontractor_project" ("project_id", "subcontractor_id");`,
    );
    this.addSql(
      `alter table "subcontractor_project" add constraint "subcontractor_project_subcontractor_id_project_id_unique" unique ("subcontractor_id", "project_id");`,
    );

    this.addSql(
      `create table "swms_document" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "subcontractor_id" text not null, "project_id" text null, "name" text not null, "status" text not null, "url" text null, "document_key" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "swms_document_subcontractor_id_created_at_id_index" on "swms_document" ("subcontractor_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "timesheet_time_type" ("id" text not null, "builder_id" text not null, "name" text not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "timesheet_time_type" add constraint "timesheet_time_type_builder_id_name_unique" unique ("builder_id", "name");`,
    );

    this.addSql(
      `create table "timesheet" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "project_id" text not null, "profile_id" text not null, "cost_code_id" text null, "time_type_id" text null, "status" text not null, "date" timestamptz(3) not null, "hours" double precision not null, "notes" text null, "timesheet_group_id" text null, primary key ("id"));`,
    );
    this.addSql(`create index "timesheet_builder_id_date_index" on "timesheet" ("builder_id", "date");`);
    this.addSql(
      `create index "timesheet_project_id_created_at_id_index" on "timesheet" ("project_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "timesheet_builder_id_created_at_id_index" on "timesheet" ("builder_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "upload" ("key" text not null, "builder_id" text not null, "integrator_id" text null, "file_name" text not null, "content_type" text not null, "size" int not null, "created_at" timestamptz(3) not null, "consumed_at" timestamptz(3) null, "photo_id" text null, primary key ("key"));`,
    );
    this.addSql(`create index "upload_created_at_index" on "upload" ("created_at");`);

    this.addSql(
      `create table "app_user" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "name" text not null, "email" text not null, "password_hash" text null, "picture_key" text null, "disabled_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "app_user" add constraint "app_user_email_unique" unique ("email");`);

    this.addSql(
      `create table "oauth_token_family" ("id" text not null, "client_id" text not null, "user_id" text not null, "builder_id" text not null, "scopes" text[] not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "oauth_token_family_expires_at_index" on "oauth_token_family" ("expires_at");`);

    this.addSql(
      `create table "oauth_refresh_token" ("digest" text not null, "family_id" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "rotated_at" timestamptz(3) null, primary key ("digest"));`,
    );
    this.addSql(`create index "oauth_refresh_token_expires_at_index" on "oauth_refresh_token" ("expires_at");`);
    this.addSql(`create index "oauth_refresh_token_family_id_index" on "oauth_refresh_token" ("family_id");`);

    this.addSql(
      `create table "oauth_authorization_code" ("digest" text not null, "family_id" text not null, "redirect_uri" text not null, "code_challenge" text not null, "code_challenge_method" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "used_at" timestamptz(3) null, primary key ("digest"));`,
    );
    this.addSql(`create index "oauth_authorization_code_family_id_index" on "oauth_authorization_code" ("family_id");`);

    this.addSql(
      `create table "oauth_session" ("digest" text not null, "user_id" text not null, "password_digest" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("digest"));`,
    );
    this.addSql(`create index "oauth_session_expires_at_index" on "oauth_session" ("expires_at");`);
    this.addSql(`create index "oauth_session_user_id_index" on "oauth_session" ("user_id");`);

    this.addSql(
      `create table "photo_report" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "integrator_id" text not null, "project_id" text null, "source_app" text not null, "source_external_id" text not null, "source_revision" int not null, "status" text not null, "title" text not null, "source_created_at" timestamptz(3) not null, "walkthrough_date" timestamptz(3) not null, "source_author" jsonb not null, "mapped_admin_user_id" text null, "source_deep_link" text null, "fingerprint" text not null, "content" jsonb storage external not null, "archived_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "photo_report_project_id_created_at_id_index" on "photo_report" ("project_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "photo_report_builder_id_created_at_id_index" on "photo_report" ("builder_id", "created_at", "id");`,
    );
    this.addSql(
      `alter table "photo_report" add constraint "photo_report_builder_id_source_app_source_external_id_unique" unique ("builder_id", "source_app", "source_external_id");`,
    );

    this.addSql(
      `create table "photo_report_page" ("id" text not null, "report_id" text not null, "parent_id" text null, "path" text[] not null, "path_digest" text not null, primary key ("id"));`,
    );
    this.addSql(`create index "photo_report_page_parent_id_index" on "photo_report_page" ("parent_id");`);
    this.addSql(
      `alter table "photo_report_page" add constraint "photo_report_page_report_id_path_digest_unique" unique ("report_id", "path_digest");`,
    );

    this.addSql(
      `create table "membership" ("id" serial primary key, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "user_id" text not null, "builder_id" text not null, "role" text not null);`,
    );
    this.addSql(`create index "membership_builder_id_index" on "membership" ("builder_id");`);
    this.addSql(
      `alter table "membership" add constraint "membership_user_id_builder_id_unique" unique ("user_id", "builder_id");`,
    );

    this.addSql(
      `create table "worker" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "subcontractor_id" text not null, "full_name" text not null, primary key ("id"));`,
    );
    this.addSql(
      `create index "worker_subcontractor_id_created_at_id_index" on "worker" ("subcontractor_id", "created_at", "id");`,
    );

    this.addSql(
      `create table "site_access" ("id" serial primary key, "builder_id" text not null, "worker_id" text not null, "project_id" text not null, "granted_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null);`,
    );
    this.addSql(
      `alter table "site_access" add constraint "site_access_worker_id_project_id_unique" unique ("worker_id", "project_id");`,
    );

    this.addSql(
      `create table "sign_on_visit" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "project_id" text not null, "worker_id" text not null, "signed_on_at" timestamptz(3) not null, "signed_off_at" timestamptz(3) null, "closed_at" timestamptz(3) null, "closed_by" text null, "archived_at" timestamptz(3) null, "anomaly" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "sign_on_visit_open_of_builder" on "sign_on_visit" ("builder_id", "created_at", "id") where signed_off_at is null and closed_at is null and archived_at is null;`,
    );
    this.addSql(
      `create index "sign_on_visit_open_on_project" on "sign_on_visit" ("project_id", "created_at", "id") where signed_off_at is null and closed_at is null and archived_at is null;`,
    );
    this.addSql(
      `create index "sign_on_visit_worker_id_created_at_id_index" on "sign_on_visit" ("worker_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "sign_on_visit_project_id_signed_on_at_index" on "sign_on_visit" ("project_id", "signed_on_at");`,
    );

    this.addSql(
      `create table "sign_on_event" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "received" bigserial, "integrator_id" text not null, "builder_id" text not null, "project_id" text not null, "worker_id" text not null, "source_event_id" text not null, "source_sign_on_event_id" text null, "type" text not null, "occurred_at" timestamptz(3) not null, "device_id" text null, "status" text not null, "rejection" text null, "visit_id" text null, primary key ("id"));`,
    );
    this.addSql(`create index "sign_on_event_visit_id_index" on "sign_on_event" ("visit_id");`);
    this.addSql(
      `create index "sign_on_event_unsettled_of_builder" on "sign_on_event" ("builder_id", "status", "created_at", "id") where status <> 'APPLIED';`,
    );
    this.addSql(
      `create index "sign_on_event_unsettled_on_project" on "sign_on_event" ("project_id", "status", "created_at", "id") where status <> 'APPLIED';`,
    );
    this.addSql(
      `create index "sign_on_event_waiting" on "sign_on_event" ("integrator_id", "builder_id", "project_id", "source_sign_on_event_id") where status = 'PENDING_SIGN_ON';`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_integrator_id_builder_id_project_id_ead63_unique" unique ("integrator_id", "builder_id", "project_id", "source_event_id");`,
    );

    this.addSql(
      `create table "sign_on_conflict" ("id" serial primary key, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "integrator_id" text not null, "builder_id" text not null, "project_id" text not null, "worker_id" text not null, "digest" text not null, "code" text not null, "answers" int not null default 1, "source_event_id" text not null, "source_sign_on_event_id" text null, "type" text not null, "occurred_at" timestamptz(3) not null, "device_id" text null);`,
    );
    this.addSql(
      `create index "sign_on_conflict_builder_id_created_at_id_index" on "sign_on_conflict" ("builder_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "sign_on_conflict_project_id_created_at_id_index" on "sign_on_conflict" ("project_id", "created_at", "id");`,
    );
    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_integrator_id_builder_id_project_c9f5e_unique" unique ("integrator_id", "builder_id", "project_id", "digest");`,
    );

    this.addSql(
      `create table "induction" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "builder_id" text not null, "project_id" text not null, "worker_id" text not null, "subcontractor_id" text not null, "identifier" int not null, "type" text not null, "status" text not null, "data" jsonb not null default '[]', primary key ("id"));`,
    );
    this.addSql(
      `create index "induction_worker_id_created_at_id_index" on "induction" ("worker_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "induction_subcontractor_id_created_at_id_index" on "induction" ("subcontractor_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "induction_project_id_created_at_id_index" on "induction" ("project_id", "created_at", "id");`,
    );
    this.addSql(
      `alter table "induction" add constraint "induction_project_id_identifier_unique" unique ("project_id", "identifier");`,
    );

    this.addSql(
      `alter table "timesheet_cost_code" add constraint "timesheet_cost_code_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "connection" add constraint "connection_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "connection" add constraint "connection_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "connection" add constraint "connection_status_check" check ("status" in ('ACTIVE', 'REVOKED'));`,
    );

    this.addSql(
      `alter table "meeting_template" add constraint "meeting_template_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_type_check" check ("type" in ('CONFIDENTIAL', 'PUBLIC'));`,
    );

    this.addSql(
      `alter table "oauth_client_secret" add constraint "oauth_client_secret_client_id_foreign" foreign key ("client_id") references "oauth_client" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "person_profile" add constraint "person_profile_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "person_profile" add constraint "person_profile_type_check" check ("type" in ('worker', 'admin'));`,
    );

    this.addSql(
      `alter table "project" add constraint "project_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "project" add constraint "project_status_check" check ("status" in ('ARCHIVED', 'COMPLETE', 'IN_PROGRESS', 'UPCOMING'));`,
    );

    this.addSql(
      `alter table "photo_folder" add constraint "photo_folder_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_folder" add constraint "photo_folder_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_folder" add constraint "photo_folder_parent_id_foreign" foreign key ("parent_id") references "photo_folder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_folder" add constraint "photo_folder_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "photo" add constraint "photo_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo" add constraint "photo_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo" add constraint "photo_folder_id_foreign" foreign key ("folder_id") references "photo_folder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo" add constraint "photo_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo" add constraint "photo_source_check" check ("source" in ('GALLERY', 'SITE_DIARY', 'PRE_START', 'CHECKLIST', 'ITP', 'PLATFORM_ACTION', 'DEFECT'));`,
    );

    this.addSql(
      `alter table "meeting" add constraint "meeting_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "meeting" add constraint "meeting_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "meeting" add constraint "meeting_template_id_foreign" foreign key ("template_id") references "meeting_template" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "meeting" add constraint "meeting_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "meeting" add constraint "meeting_status_check" check ("status" in ('DRAFT', 'DISTRIBUTED', 'RUNNING', 'COMPLETED'));`,
    );

    this.addSql(
      `alter table "meeting_note" add constraint "meeting_note_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "meeting_note" add constraint "meeting_note_meeting_id_foreign" foreign key ("meeting_id") references "meeting" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "meeting_note" add constraint "meeting_note_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "project_location" add constraint "project_location_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "project_location" add constraint "project_location_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "defect" add constraint "defect_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "defect" add constraint "defect_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "defect" add constraint "defect_location_id_foreign" foreign key ("location_id") references "project_location" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "defect" add constraint "defect_status_check" check ("status" in ('OPEN', 'IN_PROGRESS', 'READY_FOR_REVIEW', 'CLOSED'));`,
    );
    this.addSql(
      `alter table "defect" add constraint "defect_priority_check" check ("priority" in ('LOW', 'MEDIUM', 'HIGH'));`,
    );

    this.addSql(
      `alter table "subcontractor" add constraint "subcontractor_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "prequalification" add constraint "prequalification_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "prequalification" add constraint "prequalification_subcontractor_id_foreign" foreign key ("subcontractor_id") references "subcontractor" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "prequalification" add constraint "prequalification_status_check" check ("status" in ('APPROVED', 'REJECTED', 'WAITING_REVIEW', 'SENT'));`,
    );

    this.addSql(
      `alter table "insurance" add constraint "insurance_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "insurance" add constraint "insurance_subcontractor_id_foreign" foreign key ("subcontractor_id") references "subcontractor" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "insurance" add constraint "insurance_type_check" check ("type" in ('PUBLIC_LIABILITY', 'WORK_COVER', 'OTHER'));`,
    );
    this.addSql(
      `alter table "insurance" add constraint "insurance_status_check" check ("status" in ('WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED', 'EXPIRED'));`,
    );

    this.addSql(
      `alter table "contact" add constraint "contact_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "contact" add constraint "contact_subcontractor_id_foreign" foreign key ("subcontractor_id") references "subcontractor" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "contact" add constraint "contact_type_check" check ("type" in ('SUBCONTRACTOR', 'BUILDER'));`,
    );

    this.addSql(
      `alter table "subcontractor_project" add constraint "subcontractor_project_subcontractor_id_foreign" foreign key ("subcontractor_id") references "subcontractor" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "subcontractor_project" add constraint "subcontractor_project_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "subcontractor_project" add constraint "subcontractor_project_statuses_check" check (statuses <@ ARRAY['INVITED'::text, 'ACCEPTED'::text, 'SWMS_UPLOADED'::text, 'SWMS_APPROVED'::text, 'INSURANCE_UPLOADED'::text, 'INSURANCE_EXPIRED'::text, 'PREQUALIFIED'::text]);`,
    );

    this.addSql(
      `alter table "swms_document" add constraint "swms_document_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "swms_document" add constraint "swms_document_subcontractor_id_foreign" foreign key ("subcontractor_id") references "subcontractor" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "swms_document" add constraint "swms_document_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "swms_document" add constraint "swms_document_status_check" check ("status" in ('WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED'));`,
    );

    this.addSql(
      `alter table "timesheet_time_type" add constraint "timesheet_time_type_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "timesheet" add constraint "timesheet_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "timesheet" add constraint "timesheet_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "timesheet" add constraint "timesheet_profile_id_foreign" foreign key ("profile_id") references "person_profile" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "timesheet" add constraint "timesheet_cost_code_id_foreign" foreign key ("cost_code_id") references "timesheet_cost_code" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "timesheet" add constraint "timesheet_time_type_id_foreign" foreign key ("time_type_id") references "timesheet_time_type" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "timesheet" add constraint "timesheet_status_check" check ("status" in ('APPROVED_1', 'APPROVED_2', 'REJECTED', 'WAITING_REVIEW'));`,
    );

    this.addSql(
      `alter table "upload" add constraint "upload_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "upload" add constraint "upload_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "oauth_token_family" add constraint "oauth_token_family_client_id_foreign" foreign key ("client_id") references "oauth_client" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "oauth_token_family" add constraint "oauth_token_family_user_id_foreign" foreign key ("user_id") references "app_user" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "oauth_token_family" add constraint "oauth_token_family_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "oauth_refresh_token" add constraint "oauth_refresh_token_family_id_foreign" foreign key ("family_id") references "oauth_token_family" ("id") on update no action on delete cascade;`,
    );

    this.addSql(
      `alter table "oauth_authorization_code" add constraint "oauth_authorization_code_family_id_foreign" foreign key ("family_id") references "oauth_token_family" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "oauth_authorization_code" add constraint "oauth_authorization_code_code_challenge_method_check" check ("code_challenge_method" in ('S256', 'PLAIN'));`,
    );

    this.addSql(
      `alter table "oauth_session" add constraint "oauth_session_user_id_foreign" foreign key ("user_id") references "app_user" ("id") on update no action on delete cascade;`,
    );

    this.addSql(
      `alter table "photo_report" add constraint "photo_report_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_report" add constraint "photo_report_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_report" add constraint "photo_report_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_report" add constraint "photo_report_mapped_admin_user_id_foreign" foreign key ("mapped_admin_user_id") references "app_user" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_report" add constraint "photo_report_status_check" check ("status" in ('synced', 'partial'));`,
    );

    this.addSql(
      `alter table "photo_report_page" add constraint "photo_report_page_report_id_foreign" foreign key ("report_id") references "photo_report" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "photo_report_page" add constraint "photo_report_page_parent_id_foreign" foreign key ("parent_id") references "photo_report_page" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "membership" add constraint "membership_user_id_foreign" foreign key ("user_id") references "app_user" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "membership" add constraint "membership_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "worker" add constraint "worker_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "worker" add constraint "worker_subcontractor_id_foreign" foreign key ("subcontractor_id") references "subcontractor" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "site_access" add constraint "site_access_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "site_access" add constraint "site_access_worker_id_foreign" foreign key ("worker_id") references "worker" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "site_access" add constraint "site_access_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );

    this.addSql(
      `alter table "sign_on_visit" add constraint "sign_on_visit_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_visit" add constraint "sign_on_visit_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_visit" add constraint "sign_on_visit_worker_id_foreign" foreign key ("worker_id") references "worker" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_visit" add constraint "sign_on_visit_anomaly_check" check ("anomaly" in ('SIGN_OFF_BEFORE_SIGN_ON'));`,
    );

    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_worker_id_foreign" foreign key ("worker_id") references "worker" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_visit_id_foreign" foreign key ("visit_id") references "sign_on_visit" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_type_check" check ("type" in ('SIGN_ON', 'SIGN_OFF'));`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_status_check" check ("status" in ('APPLIED', 'PENDING_SIGN_ON', 'REJECTED'));`,
    );
    this.addSql(
      `alter table "sign_on_event" add constraint "sign_on_event_rejection_check" check ("rejection" in ('EVENT_MISMATCH', 'WORKER_MISMATCH', 'SIGN_ON_REQUIRED', 'ALREADY_SIGNED_OFF', 'ATTENDANCE_CLOSED'));`,
    );

    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_worker_id_foreign" foreign key ("worker_id") references "worker" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_code_check" check ("code" in ('EVENT_MISMATCH', 'WORKER_MISMATCH', 'SIGN_ON_REQUIRED', 'ALREADY_SIGNED_OFF', 'ATTENDANCE_CLOSED'));`,
    );
    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_type_check" check ("type" in ('SIGN_ON', 'SIGN_OFF'));`,
    );

    this.addSql(
      `alter table "induction" add constraint "induction_builder_id_foreign" foreign key ("builder_id") references "builder" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "induction" add constraint "induction_project_id_foreign" foreign key ("project_id") references "project" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "induction" add constraint "induction_worker_id_foreign" foreign key ("worker_id") references "worker" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "induction" add constraint "induction_subcontractor_id_foreign" foreign key ("subcontractor_id") references "subcontractor" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "induction" add constraint "induction_type_check" check ("type" in ('PROJECT_INDUCTION', 'COMPANY_INDUCTION'));`,
    );
    this.addSql(
      `alter table "induction" add constraint "induction_status_check" check ("status" in ('REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED'));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "timesheet_cost_code" drop constraint "timesheet_cost_code_builder_id_foreign";`);
    this.addSql(`alter table "connection" drop constraint "connection_builder_id_foreign";`);
    this.addSql(`alter table "meeting_template" drop constraint "meeting_template_builder_id_foreign";`);
    this.addSql(`alter table "person_profile" drop constraint "person_profile_builder_id_foreign";`);
    this.addSql(`alter table "project" drop constraint "project_builder_id_foreign";`);
    this.addSql(`alter table "photo_folder" drop constraint "photo_folder_builder_id_foreign";`);
    this.addSql(`alter table "photo" drop constraint "photo_builder_id_foreign";`);
    this.addSql(`alter table "meeting" drop constraint "meeting_builder_id_foreign";`);
    this.addSql(`alter table "meeting_note" drop constraint "meeting_note_builder_id_foreign";`);
    this.addSql(`alter table "project_location" drop constraint "project_location_builder_id_foreign";`);
    this.addSql(`alter table "defect" drop constraint "defect_builder_id_foreign";`);
    this.addSql(`alter table "subcontractor" drop constraint "subcontractor_builder_id_foreign";`);
    this.addSql(`alter table "prequalification" drop constraint "prequalification_builder_id_foreign";`);
    this.addSql(`alter table "insurance" drop constraint "insurance_builder_id_foreign";`);
    this.addSql(`alter table "contact" drop constraint "contact_builder_id_foreign";`);
    this.addSql(`alter table "swms_document" drop constraint "swms_document_builder_id_foreign";`);
    this.addSql(`alter table "timesheet_time_type" drop constraint "timesheet_time_type_builder_id_foreign";`);
    this.addSql(`alter table "timesheet" drop constraint "timesheet_builder_id_foreign";`);
    this.addSql(`alter table "upload" drop constraint "upload_builder_id_foreign";`);
    this.addSql(`alter table "oauth_token_family" drop constraint "oauth_token_family_builder_id_foreign";`);
    this.addSql(`alter table "photo_report" drop constraint "photo_report_builder_id_foreign";`);
    this.addSql(`alter table "membership" drop constraint "membership_builder_id_foreign";`);
    this.addSql(`alter table "worker" drop constraint "worker_builder_id_foreign";`);
    this.addSql(`alter table "site_access" drop constraint "site_access_builder_id_foreign";`);
    this.addSql(`alter table "sign_on_visit" drop constraint "sign_on_visit_builder_id_foreign";`);
    this.addSql(`alter table "sign_on_event" drop constraint "sign_on_event_builder_id_foreign";`);
    this.addSql(`alter table "sign_on_conflict" drop constraint "sign_on_conflict_builder_id_foreign";`);
    this.addSql(`alter table "induction" drop constraint "induction_builder_id_foreign";`);
    this.addSql(`alter table "timesheet" drop constraint "timesheet_cost_code_id_foreign";`);
    this.addSql(`alter table "connection" drop constraint "connection_integrator_id_foreign";`);
    this.addSql(`alter table "oauth_client" drop constraint "oauth_client_integrator_id_foreign";`);
    this.addSql(`alter table "photo_folder" drop constraint "photo_folder_integrator_id_foreign";`);
    this.addSql(`alter table "photo" drop constraint "photo_integrator_id_foreign";`);
    this.addSql(`alter table "meeting" drop constraint "meeting_integrator_id_foreign";`);
    this.addSql(`alter table "meeting_note" drop constraint "meeting_note_integrator_id_foreign";`);
    this.addSql(`alter table "upload" drop constraint "upload_integrator_id_foreign";`);
    this.addSql(`alter table "photo_report" drop constraint "photo_report_integrator_id_foreign";`);
    this.addSql(`alter table "sign_on_event" drop constraint "sign_on_event_integrator_id_foreign";`);
    this.addSql(`alter table "sign_on_conflict" drop constraint "sign_on_conflict_integrator_id_foreign";`);
    this.addSql(`alter table "meeting" drop constraint "meeting_template_id_foreign";`);
    this.addSql(`alter table "oauth_client_secret" drop constraint "oauth_client_secret_client_id_foreign";`);
    this.addSql(`alter table "oauth_token_family" drop constraint "oauth_token_family_client_id_foreign";`);
    this.addSql(`alter table "timesheet" drop constraint "timesheet_profile_id_foreign";`);
    this.addSql(`alter table "photo_folder" drop constraint "photo_folder_project_id_foreign";`);
    this.addSql(`alter table "photo" drop constraint "photo_project_id_foreign";`);
    this.addSql(`alter table "meeting" drop constraint "meeting_project_id_foreign";`);
    this.addSql(`alter table "project_location" drop constraint "project_location_project_id_foreign";`);
    this.addSql(`alter table "defect" drop constraint "defect_project_id_foreign";`);
    this.addSql(`alter table "subcontractor_project" drop constraint "subcontractor_project_project_id_foreign";`);
    this.addSql(`alter table "swms_document" drop constraint "swms_document_project_id_foreign";`);
    this.addSql(`alter table "timesheet" drop constraint "timesheet_project_id_foreign";`);
    this.addSql(`alter table "photo_report" drop constraint "photo_report_project_id_foreign";`);
    this.addSql(`alter table "site_access" drop constraint "site_access_project_id_foreign";`);
    this.addSql(`alter table "sign_on_visit" drop constraint "sign_on_visit_project_id_foreign";`);
    this.addSql(`alter table "sign_on_event" drop constraint "sign_on_event_project_id_foreign";`);
    this.addSql(`alter table "sign_on_conflict" drop constraint "sign_on_conflict_project_id_foreign";`);
    this.addSql(`alter table "induction" drop constraint "induction_project_id_foreign";`);
    this.addSql(`alter table "photo_folder" drop constraint "photo_folder_parent_id_foreign";`);
    this.addSql(`alter table "photo" drop constraint "photo_folder_id_foreign";`);
    this.addSql(`alter table "meeting_note" drop constraint "meeting_note_meeting_id_foreign";`);
    this.addSql(`alter table "defect" drop constraint "defect_location_id_foreign";`);
    this.addSql(`alter table "prequalification" drop constraint "prequalification_subcontractor_id_foreign";`);
    this.addSql(`alter table "insurance" drop constraint "insurance_subcontractor_id_foreign";`);
    this.addSql(`alter table "contact" drop constraint "contact_subcontractor_id_foreign";`);
    this.addSql(
      `alter table "subcontractor_project" drop constraint "subcontractor_project_subcontractor_id_foreign";`,
    );
    this.addSql(`alter table "swms_document" drop constraint "swms_document_subcontractor_id_foreign";`);
    this.addSql(`alter table "worker" drop constraint "worker_subcontractor_id_foreign";`);
    this.addSql(`alter table "induction" drop constraint "induction_subcontractor_id_foreign";`);
    this.addSql(`alter table "timesheet" drop constraint "timesheet_time_type_id_foreign";`);
    this.addSql(`alter table "oauth_token_family" drop constraint "oauth_token_family_user_id_foreign";`);
    this.addSql(`alter table "oauth_session" drop constraint "oauth_session_user_id_foreign";`);
    this.addSql(`alter table "photo_report" drop constraint "photo_report_mapped_admin_user_id_foreign";`);
    this.addSql(`alter table "membership" drop constraint "membership_user_id_foreign";`);
    this.addSql(`alter table "oauth_refresh_token" drop constraint "oauth_refresh_token_family_id_foreign";`);
    this.addSql(`alter table "oauth_authorization_code" drop constraint "oauth_authorization_code_family_id_foreign";`);
    this.addSql(`alter table "photo_report_page" drop constraint "photo_report_page_report_id_foreign";`);
    this.addSql(`alter table "photo_report_page" drop constraint "photo_report_page_parent_id_foreign";`);
    this.addSql(`alter table "site_access" drop constraint "site_access_worker_id_foreign";`);
    this.addSql(`alter table "sign_on_visit" drop constraint "sign_on_visit_worker_id_foreign";`);
    this.addSql(`alter table "sign_on_event" drop constraint "sign_on_event_worker_id_foreign";`);
    this.addSql(`alter table "sign_on_conflict" drop constraint "sign_on_conflict_worker_id_foreign";`);
    this.addSql(`alter table "induction" drop constraint "induction_worker_id_foreign";`);
    this.addSql(`alter table "sign_on_event" drop constraint "sign_on_event_visit_id_foreign";`);

    this.addSql(`drop table if exists "builder" cascade;`);
    this.addSql(`drop table if exists "timesheet_cost_code" cascade;`);
    this.addSql(`drop table if exists "image_host" cascade;`);
    this.addSql(`drop table if exists "integrator" cascade;`);
    this.addSql(`drop table if exists "connection" cascade;`);
    this.addSql(`drop table if exists "meeting_template" cascade;`);
    this.addSql(`drop table if exists "oauth_client" cascade;`);
    this.addSql(`drop table if exists "oauth_client_secret" cascade;`);
    this.addSql(`drop table if exists "person_profile" cascade;`);
    this.addSql(`drop table if exists "project" cascade;`);
    this.addSql(`drop table if exists "photo_folder" cascade;`);
    this.addSql(`drop table if exists "photo" cascade;`);
    this.addSql(`drop table if exists "meeting" cascade;`);
    this.addSql(`drop table if exists "meeting_note" cascade;`);
    this.addSql(`drop table if exists "project_location" cascade;`);
    this.addSql(`drop table if exists "defect" cascade;`);
    this.addSql(`drop table if exists "rate_budget" cascade;`);
    this.addSql(`drop table if exists "oauth_revoked_token" cascade;`);
    this.addSql(`drop table if exists "oauth_sign_in_attempt" cascade;`);
    this.addSql(`drop table if exists "subcontractor" cascade;`);
    this.addSql(`drop table if exists "prequalification" cascade;`);
    this.addSql(`drop table if exists "insurance" cascade;`);
    this.addSql(`drop table if exists "contact" cascade;`);
    this.addSql(`drop table if exists "subcontractor_project" cascade;`);
    this.addSql(`drop table if exists "swms_document" cascade;`);
    this.addSql(`drop table if exists "timesheet_time_type" cascade;`);
    this.addSql(`drop table if exists "timesheet" cascade;`);
    this.addSql(`drop table if exists "upload" cascade;`);
    this.addSql(`drop table if exists "app_user" cascade;`);
    this.addSql(`drop table if exists "oauth_token_family" cascade;`);
    this.addSql(`drop table if exists "oauth_refresh_token" cascade;`);
    this.addSql(`drop table if exists "oauth_authorization_code" cascade;`);
    this.addSql(`drop table if exists "oauth_session" cascade;`);
    this.addSql(`drop table if exists "photo_report" cascade;`);
    this.addSql(`drop table if exists "photo_report_page" cascade;`);
    this.addSql(`drop table if exists "membership" cascade;`);
    this.addSql(`drop table if exists "worker" cascade;`);
    this.addSql(`drop table if exists "site_access" cascade;`);
    this.addSql(`drop table if exists "sign_on_visit" cascade;`);
    this.addSql(`drop table if exists "sign_on_event" cascade;`);
    this.addSql(`drop table if exists "sign_on_conflict" cascade;`);
    this.addSql(`drop table if exists "induction" cascade;`);
  }
}

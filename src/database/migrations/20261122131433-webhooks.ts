import { Migration } from '@mikro-orm/migrations';

export class Migration20261122131433Webhooks extends Migration {
  override name = 'Migration20261122131433Webhooks';

  override up(): void {
    this.addSql(
      `create table "webhook_dispatcher" ("id" text not null, "seen_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `create table "webhook_endpoint" ("id" text not null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "integrator_id" text not null, "client_id" text not null, "url" text not null, "types" text[] null, "builder_ids" text[] null, "status" text not null, "disabled_reason" text null, "secret" text not null, "previous_secret" text null, "previous_secret_until" timestamptz(3) null, "deleted_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "webhook_endpoint_deleted_at_index" on "webhook_endpoint" ("deleted_at") where deleted_at is not null;`,
    );
    this.addSql(
      `create index "webhook_endpoint_integrator_id_created_at_id_index" on "webhook_endpoint" ("integrator_id", "created_at", "id");`,
    );
    this.addSql(
      `create table "webhook_delivery" ("id" text not null, "endpoint_id" text not null, "event_id" text not null, "type" text not null, "builder_id" text not null, "number" bigint not null, "record_id" text not null, "project_id" text null, "parent_id" text null, "occurred_at" timestamptz(3) not null, "status" text not null, "attempts" int not null, "created_at" timestamptz(3) not null, "last_attempt_at" timestamptz(3) null, "next_attempt_at" timestamptz(3) null, "response_status" int null, "response_body" text null, "error" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "webhook_delivery_endpoint_id_number_index" on "webhook_delivery" ("endpoint_id", "number") where status = 'PENDING';`,
    );
    this.addSql(`create index "webhook_delivery_created_at_index" on "webhook_delivery" ("created_at");`);
    this.addSql(`create index "webhook_delivery_endpoint_id_id_index" on "webhook_delivery" ("endpoint_id", "id");`);
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_endpoint_id_event_id_unique" unique ("endpoint_id", "event_id");`,
    );
    this.addSql(
      `create table "webhook_progress" ("endpoint_id" text not null, "day" text not null, "number" bigint not null, "replay_until" bigint null, "generation" int not null default 0, "lease_owner" text null, "lease_until" timestamptz(3) null, "failures" int not null default 0, "failing_since" timestamptz(3) null, "suspended_until" timestamptz(3) null, primary key ("endpoint_id"));`,
    );
    this.addSql(`create index "webhook_progress_lease_owner_index" on "webhook_progress" ("lease_owner");`);
    this.addSql(
      `alter table "webhook_endpoint" add constraint "webhook_endpoint_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "webhook_endpoint" add constraint "webhook_endpoint_client_id_foreign" foreign key ("client_id") references "oauth_client" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "webhook_endpoint" add constraint "webhook_endpoint_status_check" check ("status" in ('ACTIVE', 'PAUSED', 'DISABLED'));`,
    );
    this.addSql(
      `alter table "webhook_endpoint" add constraint "webhook_endpoint_disabled_reason_check" check ("disabled_reason" in ('GONE', 'NO_SUCCESS', 'CLIENT_DISABLED'));`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_endpoint_id_foreign" foreign key ("endpoint_id") references "webhook_endpoint" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_status_check" check ("status" in ('PENDING', 'DELIVERED', 'FAILED', 'DROPPED'));`,
    );
    this.addSql(
      `alter table "webhook_progress" add constraint "webhook_progress_endpoint_id_foreign" foreign key ("endpoint_id") references "webhook_endpoint" ("id") on update no action on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "webhook_delivery" drop constraint "webhook_delivery_endpoint_id_foreign";`);
    this.addSql(`alter table "webhook_progress" drop constraint "webhook_progress_endpoint_id_foreign";`);
    this.addSql(`drop table if exists "webhook_dispatcher" cascade;`);
    this.addSql(`drop table if exists "webhook_endpoint" cascade;`);
    this.addSql(`drop table if exists "webhook_delivery" cascade;`);
    this.addSql(`drop table if exists "webhook_progress" cascade;`);
  }
}

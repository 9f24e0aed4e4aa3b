import { Migration } from '@mikro-orm/migrations';

export class Migration20261122161321Console extends Migration {
  override name = 'Migration20261122161321Console';

  override up(): void {
    this.addSql(
      `create table "rejection" ("id" serial primary key, "at" timestamptz(3) not null, "integrator_id" text not null, "client_id" text not null, "operation" text not null, "status" int not null, "code" text not null, "reason" text not null, "request_id" text not null);`,
    );
    this.addSql(`create index "rejection_integrator_id_id_index" on "rejection" ("integrator_id", "id");`);
    this.addSql(
      `create table "usage_day" ("integrator_id" text not null, "date" date not null, "requests" int not null, "errors" int not null, "rejections" int not null, primary key ("integrator_id", "date"));`,
    );
    this.addSql(`create index "usage_day_date_index" on "usage_day" ("date");`);
    this.addSql(
      `create table "console_session" ("digest" text not null, "user_id" text not null, "password_digest" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("digest"));`,
    );
    this.addSql(`create index "console_session_expires_at_index" on "console_session" ("expires_at");`);
    this.addSql(`create index "console_session_user_id_index" on "console_session" ("user_id");`);
    this.addSql(`alter table "sign_on_visit" add "closing_reason" text null;`);
    this.addSql(
      `alter table "sign_on_conflict" add "resolution" text null, add "resolution_reason" text null, add "resolved_by" text null, add "resolved_at" timestamptz(3) null;`,
    );
    this.addSql(
      `create index "sign_on_conflict_open" on "sign_on_conflict" ("builder_id", "id") where resolved_at is null;`,
    );
    this.addSql(
      `alter table "sign_on_conflict" add constraint "sign_on_conflict_resolution_check" check ("resolution" in ('KEEP_RECORD', 'USE_EVENT_TIME'));`,
    );
    this.addSql(
      `alter table "rejection" add constraint "rejection_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "rejection" add constraint "rejection_client_id_foreign" foreign key ("client_id") references "oauth_client" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "usage_day" add constraint "usage_day_integrator_id_foreign" foreign key ("integrator_id") references "integrator" ("id") on update no action on delete no action;`,
    );
    this.addSql(
      `alter table "console_session" add constraint "console_session_user_id_foreign" foreign key ("user_id") references "app_user" ("id") on update no action on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "rejection" cascade;`);
    this.addSql(`drop table if exists "usage_day" cascade;`);
    this.addSql(`drop table if exists "console_session" cascade;`);
    this.addSql(`drop index "sign_on_conflict_open";`);
    this.addSql(`alter table "sign_on_conflict" drop constraint "sign_on_conflict_resolution_check";`);
    this.addSql(
      `alter table "sign_on_conflict" drop column "resolution", drop column "resolution_reason", drop column "resolved_by", drop column "resolved_at";`,
    );
    this.addSql(`alter table "sign_on_visit" drop column "closing_reason";`);
  }
}

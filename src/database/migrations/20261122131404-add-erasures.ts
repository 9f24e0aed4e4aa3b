import { Migration } from '@mikro-orm/migrations';

export class Migration20261122131404AddErasures extends Migration {
  override name = 'Migration20261122131404AddErasures';

  override up(): void {
    this.addSql(
      `create table "erasure" ("id" text not null, "kind" text not null, "subject_ids" text[] not null, "pseudonym" text null, "requested_at" timestamptz(3) not null, "due_at" timestamptz(3) not null, "cancelled_at" timestamptz(3) null, "completed_at" timestamptz(3) null, "pending_keys" text[] not null default '{}', primary key ("id"));`,
    );
    this.addSql(`create index "erasure_subject_ids_index" on "erasure" using gin ("subject_ids");`);
    this.addSql(`alter table "erasure" add constraint "erasure_kind_check" check ("kind" in ('PERSON', 'BUILDER'));`);
  }

  override down(): void {
    this.addSql(`drop table if exists "erasure" cascade;`);
  }
}

import { Migration } from '@mikro-orm/migrations';

export class Migration20261122131405StaffAndPasswordLinks extends Migration {
  override name = 'Migration20261122131405StaffAndPasswordLinks';

  override up(): void {
    this.addSql(
      `create table "password_link" ("digest" text not null, "user_id" text not null, "purpose" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("digest"));`,
    );
    this.addSql(`create index "password_link_expires_at_index" on "password_link" ("expires_at");`);
    this.addSql(`create index "password_link_user_id_created_at_index" on "password_link" ("user_id", "created_at");`);
    this.addSql(`alter table "app_user" add "staff_role" text null;`);
    this.addSql(
      `alter table "app_user" add constraint "app_user_staff_role_check" check ("staff_role" in ('VIEWER', 'OPERATOR', 'ADMIN'));`,
    );
    this.addSql(
      `alter table "password_link" add constraint "password_link_user_id_foreign" foreign key ("user_id") references "app_user" ("id") on update no action on delete cascade;`,
    );
    this.addSql(
      `alter table "password_link" add constraint "password_link_purpose_check" check ("purpose" in ('INVITE', 'RESET'));`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "password_link" cascade;`);
    this.addSql(`alter table "app_user" drop constraint "app_user_staff_role_check";`);
    this.addSql(`alter table "app_user" drop column "staff_role";`);
  }
}

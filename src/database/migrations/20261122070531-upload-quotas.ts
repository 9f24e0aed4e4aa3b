import { Migration } from '@mikro-orm/migrations';

const COUNTS = (row: string) => `(${row}.consumed_at is null and ${row}.released_at is null)`;

const TRIGGERS = {
  insert: 'referencing new table as changed for each statement',
  delete: 'referencing old table as changed for each statement',
  update: `for each row when (${COUNTS('old')} is distinct from ${COUNTS('new')})`,
};

/** Adds the bytes of unused uploads per integrator, which triggers maintain, and the columns of an upload's state. */
export class Migration20261122070531UploadQuotas extends Migration {
  override name = 'Migration20261122070531UploadQuotas';

  override up(): void {
    this.addSql(
      `create table "upload_usage" ("id" bigserial primary key, "integrator_id" text not null, "bytes" bigint not null);`,
    );
    this.addSql(`create index "upload_usage_integrator_id_index" on "upload_usage" ("integrator_id");`);
    this.addSql(
      `alter table "upload" add "expires_at" timestamptz(3) null, add "released_at" timestamptz(3) null, add "failed_check" jsonb null;`,
    );
    // It is unknown which of these were sent. An expiry makes the sweep look them up, like other announced uploads.
    this.addSql(`update "upload" set "expires_at" = "created_at" + interval '15 minutes' where "consumed_at" is null;`);
    this.addSql(
      `create index "upload_integrator_id_expires_at_index" on "upload" ("integrator_id", "expires_at") where consumed_at is null and released_at is null and expires_at is not null;`,
    );
    const changed = (sum: string) => `
            insert into public.upload_usage (integrator_id, bytes)
              select coalesce(integrator_id, ''), ${sum} from changed where ${COUNTS('changed')} group by 1;`;
    this.addSql(`create function "upload_usage_change"() returns trigger language plpgsql set search_path = '' as $$
        begin
          if tg_op = 'INSERT' then ${changed('sum(size)')}
          elsif tg_op = 'DELETE' then ${changed('-sum(size)')}
          else
            insert into public.upload_usage (integrator_id, bytes)
              select coalesce((version).integrator_id, ''), factor * (version).size::bigint
              from (values (old, -1), (new, 1)) versions (version, factor) where ${COUNTS('(version)')};
          end if;
          return null;
        end $$;`);
    for (const [event, scope] of Object.entries(TRIGGERS)) {
      this.addSql(
        `create trigger "upload_usage_${event}" after ${event} on "upload" ${scope} execute function "upload_usage_change"();`,
      );
    }
    // In the transaction that creates the triggers, whose lock excludes writers, so that every upload is counted once.
    this.addSql(
      `insert into "upload_usage" ("integrator_id", "bytes") select coalesce(integrator_id, ''), sum(size) from "upload" where ${COUNTS('"upload"')} group by 1;`,
    );
  }

  override down(): void {
    for (const event of Object.keys(TRIGGERS)) {
      this.addSql(`drop trigger if exists "upload_usage_${event}" on "upload";`);
    }
    this.addSql(`drop function if exists "upload_usage_change"();`);
    this.addSql(`drop table if exists "upload_usage";`);
    this.addSql(`drop index if exists "upload_integrator_id_expires_at_index";`);
    this.addSql(
      `alter table "upload" drop column "expires_at", drop column "released_at", drop column "failed_check";`,
    );
  }
}

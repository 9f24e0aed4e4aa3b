import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the audit log. Its rows are only inserted, except by two functions that run as the owner of the table: `audit_purge` deletes
 * entries of more than a year, and `audit_pseudonymize` replaces an erased person.
 */
export class Migration20261122124743AuditLog extends Migration {
  override name = 'Migration20261122124743AuditLog';

  override up(): void {
    this.addSql(
      `create table "audit_entry" ("id" text not null, "at" timestamptz(3) not null, "actor_type" text not null, "actor_id" text null, "action" text not null, "object_type" text not null, "object_id" text not null, "builder_id" text null, "integrator_id" text null, "person_id" text null, "origin" jsonb not null, "values_before" jsonb null, "values_after" jsonb null, primary key ("id"));`,
    );
    this.addSql(`create index "audit_entry_person_id_index" on "audit_entry" ("person_id");`);
    this.addSql(`create index "audit_entry_builder_id_at_index" on "audit_entry" ("builder_id", "at");`);
    this.addSql(`create index "audit_entry_object_id_at_index" on "audit_entry" ("object_id", "at");`);
    this.addSql(`create index "audit_entry_actor_id_at_index" on "audit_entry" ("actor_id", "at");`);
    this.addSql(`create index "audit_entry_at_id_index" on "audit_entry" ("at", "id");`);
    this.addSql(
      `alter table "audit_entry" add constraint "audit_entry_actor_type_check" check ("actor_type" in ('OPERATOR', 'STAFF', 'USER', 'CLIENT', 'JOB', 'IMPORT'));`,
    );
    this.#appendOnly();
    this.#maintenance();
  }

  override down(): void {
    this.addSql(`drop function if exists "audit_purge"(timestamptz, integer);`);
    this.addSql(`drop function if exists "audit_pseudonymize"(text, text);`);
    this.addSql(`drop function if exists "audit_pseudonymize_values"(jsonb, text, text);`);
    this.addSql(`drop table if exists "audit_entry";`);
    this.addSql(`drop function if exists "audit_entry_reject_change"();`);
  }

  #appendOnly(): void {
    // The setting alone is not enough: any role can set it, but only the functions below run as the owner for a role that is not.
    this.addSql(`create function "audit_entry_reject_change"() returns trigger language plpgsql set search_path = '' as $$
        begin
          if tg_op <> 'TRUNCATE' and pg_catalog.current_setting('audit_log.maintenance', true) = 'on'
            and current_user = (select pg_catalog.pg_get_userbyid(relowner) from pg_catalog.pg_class where oid = tg_relid)
          then return null; end if;
          raise exception 'The audit log is append-only.' using errcode = '42501';
        end $$;`);
    this.addSql(
      `create trigger "audit_entry_append_only" before update or delete on "audit_entry" for each statement execute function "audit_entry_reject_change"();`,
    );
    this.addSql(
      `create trigger "audit_entry_no_truncate" before truncate on "audit_entry" for each statement execute function "audit_entry_reject_change"();`,
    );
  }

  #maintenance(): void {
    this.addSql(`create function "audit_purge"("before" timestamptz, "max_rows" integer) returns bigint language plpgsql
      security definer set search_path = '' as $$
        declare purged bigint;
        begin
          if before > pg_catalog.clock_timestamp() - interval '365 days' then
            raise exception 'Entries of the audit log are kept for at least 365 days.' using errcode = '42501';
          end if;
          perform pg_catalog.set_config('audit_log.maintenance', 'on', true);
          delete from public.audit_entry where id in
            (select id from public.audit_entry where at < before order by at, id limit max_rows);
          get diagnostics purged = row_count;
          perform pg_catalog.set_config('audit_log.maintenance', 'off', true);
          return purged;
        end $$;`);
    this.addSql(`create function "audit_pseudonymize_values"("recorded" jsonb, "person" text, "pseudonym" text) returns jsonb
      language sql immutable set search_path = '' as $$
        select pg_catalog.jsonb_object_agg(key, case
          when key in ('name', 'fullName', 'email', 'phone') and value <> 'null' then pg_catalog.to_jsonb(pseudonym)
          else pg_catalog.replace(value::text, pg_catalog.to_json(person)::text, pg_catalog.to_json(pseudonym)::text)::jsonb end)
        from pg_catalog.jsonb_each(recorded)
      $$;`);
    this.addSql(`create function "audit_pseudonymize"("person" text, "pseudonym" text) returns bigint language plpgsql
      security definer set search_path = '' as $$
        declare changed bigint;
        begin
          -- Otherwise it could attribute the actions of one person to another.
          if pseudonym !~ '^Erased person [0-9a-f]{10}$' then raise exception 'not a pseudonym: %', pseudonym; end if;
          perform pg_catalog.set_config('audit_log.maintenance', 'on', true);
          update public.audit_entry entry set
            actor_id = case when actor_id = person then pseudonym else actor_id end,
            origin = case when actor_id = person or (actor_id is null and person_id = person)
              then origin - 'address' else origin end,
            -- Only where an id is the whole of a part: user_1 is not replaced in user_12.
            object_id = pg_catalog.array_to_string(
              pg_catalog.array_replace(pg_catalog.string_to_array(object_id, '/'), person, pseudonym), '/'),
            person_id = case when person_id = person then pseudonym else person_id end,
            values_before = case when person_id = person
              then public.audit_pseudonymize_values(values_before, person, pseudonym) else values_before end,
            values_after = case when person_id = person
              then public.audit_pseudonymize_values(values_after, person, pseudonym) else values_after end
          where entry.person_id = person or entry.actor_id = person;
          get diagnostics changed = row_count;
          perform pg_catalog.set_config('audit_log.maintenance', 'off', true);
          return changed;
        end $$;`);
    for (const signature of ['audit_purge(timestamptz, integer)', 'audit_pseudonymize(text, text)']) {
      this.addSql(`revoke all on function ${signature} from public;`);
    }
  }
}

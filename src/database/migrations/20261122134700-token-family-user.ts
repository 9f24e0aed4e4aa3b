import { Migration } from '@mikro-orm/migrations';

/**
 * Adds the index for a user's authorised applications, and replaces an erased person only where an id is the whole of a part of an
 * object's id: `user_1` is not replaced in `user_12`.
 */
export class Migration20261122134700TokenFamilyUser extends Migration {
  override name = 'Migration20261122134700TokenFamilyUser';

  override up(): void {
    this.addSql(`create index "oauth_token_family_user_id_index" on "oauth_token_family" ("user_id");`);
    this.#pseudonymize(
      `array_to_string(pg_catalog.array_replace(pg_catalog.string_to_array(object_id, '/'), person, pseudonym), '/')`,
    );
  }

  override down(): void {
    this.addSql(`drop index if exists "oauth_token_family_user_id_index";`);
    this.#pseudonymize('replace(object_id, person, pseudonym)');
  }

  #pseudonymize(objectId: string): void {
    this.addSql(`create or replace function "audit_pseudonymize"("person" text, "pseudonym" text) returns bigint language plpgsql
      security definer set search_path = '' as $$
        declare changed bigint;
        begin
          -- Otherwise it could attribute the actions of one person to another.
          if pseudonym !~ '^Erased person [0-9a-f]{10}$' then raise exception 'not a pseudonym: %', pseudonym; end if;
          perform pg_catalog.set_config('audit_log.maintenance', 'on', true);
          update public.audit_entry entry set
            actor_id = case when actor_id = person then pseudonym else actor_id end,
            origin = case when actor_id = person or (actor_id is null and person_id = person) then origin - 'address' else origin end,
            object_id = pg_catalog.${objectId},
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
  }
}

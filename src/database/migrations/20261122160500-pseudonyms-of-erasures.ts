import { Migration } from '@mikro-orm/migrations';

/** Lets `audit_pseudonymize` replace a person only by the pseudonym of an erasure of that person. */
export class Migration20261122160500PseudonymsOfErasures extends Migration {
  override name = 'Migration20261122160500PseudonymsOfErasures';

  override up(): void {
    this.#replaceFunction(`if not exists (select from public.erasure where kind = 'PERSON'
            and subject_ids @> array[person] and erasure.pseudonym = audit_pseudonymize.pseudonym) then
            raise exception 'There is no erasure of % with this pseudonym.', person using errcode = '42501';
          end if;`);
  }

  override down(): void {
    this.#replaceFunction(
      `if pseudonym !~ '^Erased person [0-9a-f]{10}$' then raise exception 'not a pseudonym: %', pseudonym; end if;`,
    );
  }

  /** @param check Rejects a call that could attribute the actions of one person to another. */
  #replaceFunction(check: string): void {
    this.addSql(`create or replace function "audit_pseudonymize"("person" text, "pseudonym" text) returns bigint language plpgsql
      security definer set search_path = '' as $$
        declare changed bigint;
        begin
          ${check}
          perform pg_catalog.set_config('audit_log.maintenance', 'on', true);
          update public.audit_entry entry set
            actor_id = case when actor_id = person then pseudonym else actor_id end,
            origin = case when actor_id = person or (actor_id is null and person_id = person)
              then origin - 'address' else origin end,
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
  }
}

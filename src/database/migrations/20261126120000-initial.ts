import { Migration } from '@mikro-orm/migrations';

/**
 * The whole schema. Until a release is tagged (v0.2.0), change it in this file, so that the next installation has one migration:
 *
 * 1. Change the entity. `npm run cli -- migrate create change` writes the SQL of the difference into a new migration, and `schema.json`.
 * 2. Move that SQL into this file: a column into its table, an index or a trigger after its table. Constraints have the names that PostgreSQL
 *    gives them. Delete the new migration and its two lines in `index.ts`, and keep `schema.json`.
 * 3. Change functions here by hand: entities do not declare them.
 * 4. `npx vitest run test/database/migrations.test.ts` finds a difference to the entities. Delete `.data`, which has the earlier schema.
 *
 * After the first tagged release, this file stays as it is, and every change is a migration of its own.
 */
export class Migration20261126120000Initial extends Migration {
  override name = 'Migration20261126120000Initial';

  override up(): void {
    this.addSql(SCHEMA);
    for (const list of COUNTED_LISTS) this.addSql(toTotalSql(list));
    for (const resource of PUBLISHED_RESOURCES) this.addSql(toEventSql(resource));
    for (const event of STATEMENTS) {
      const change = `update public.subcontractor set changed_at = clock_timestamp() where id in (select subcontractor_id from changed);`;
      this.addSql(
        toTriggerSql(`subcontractor_project_parent_${event}`, toStatementScope(event, 'subcontractor_project'), change),
      );
    }
    for (const table of CHANGE_LISTS) {
      this.addSql(`create index ${table}_unlisted on ${table} (id) where listed_at is null;
create trigger ${table}_listed_at before update on ${table}
  for each row when (old.listed_at is not distinct from new.listed_at) execute function public.reset_listed_at();`);
    }
    for (const { table, event, key = 'worker_id', columns } of ROSTER_CHANGES) {
      const list = (row: string) => columns.map((name) => `${row}.${name}`).join(', ');
      const when = event === 'update' ? ` when ((${list('old')}) is distinct from (${list('new')}))` : '';
      const rows = { update: ['old', 'new'], insert: ['new'], delete: ['old'] }[event];
      const ids = rows.map((row) => `${row}.${columns[0]}`).join(', ');
      const change = `insert into public.roster_change (${key}) select distinct id from unnest(array[${ids}]) id;`;
      this.addSql(toTriggerSql(`${table}_roster_${event}`, `after ${event} on ${table} for each row${when}`, change));
    }
  }
}

const TIMES = `created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null`;

const RECORD = `id text primary key,
  ${TIMES}`;

/** The database sets `changed_at` whenever it writes the row. */
const TRACKED = `${RECORD},
  changed_at timestamptz(3) not null default clock_timestamp()`;

/** A record that belongs to others of a builder, and has no times. */
const PART_OF_BUILDER = `id text primary key,
  builder_id text not null references builder`;

/** A record of a builder, and one of a subcontractor of a builder. */
const OF_BUILDER = `${TRACKED},
  builder_id text not null references builder`;
const OF_SUBCONTRACTOR = `${OF_BUILDER},
  subcontractor_id text not null references subcontractor`;

/** A record of a worker's attendance at a project. */
const OF_WORKER = `builder_id text not null references builder,
  project_id text not null references project,
  worker_id text not null references worker`;

/** Returns SQL of indexes with the names that MikroORM gives them. Columns may end in `include (…)` and `where …`. */
const toIndexSql = (table: string, ...indexes: string[]) =>
  indexes
    .map((index) => {
      const [, columns, options] = /^(.*?)( include .*| where .*|)$/.exec(index)!;
      return `create index ${table}_${columns!.replaceAll(', ', '_')}_index on ${table} (${columns})${options};`;
    })
    .join('\n');

/** Returns SQL of an index for searches by words (`SearchIndex` of `entities/columns.ts`). */
const toSearchIndexSql = (table: string, text: string, scope = 'builder_id') =>
  `create index ${table}_search on ${table} using gin (search_vector(${scope}, ${text}));`;

/** Returns SQL of a table of sign-ins in a browser. */
const toSessionSql = (table: string) => `create table ${table} (
  digest text primary key,
  created_at timestamptz(3) not null,
  user_id text not null references app_user on delete cascade,
  credential_digest text not null,
  expires_at timestamptz(3) not null
);
${toIndexSql(table, 'expires_at', 'user_id')}`;

/** Returns SQL of a function that sets a column of a row before it is written. */
const toAssignmentSql = (name: string, assignment: string) => `
create function ${name}() returns trigger language plpgsql set search_path = '' as $$
begin
  new.${assignment};
  return new;
end $$;`;

/** Returns SQL of a trigger with its function. */
const toTriggerSql = (name: string, scope: string, body: string) => `
create function public.${name}() returns trigger language plpgsql set search_path = '' as $$
  begin
    ${body}
    return null;
  end $$;
create trigger ${name} ${scope} execute function public.${name}();`;

const SCHEMA = `
-- Integrators, their clients and connections to builders.

create table integrator (
  ${RECORD},
  name text not null, deep_link_schemes text[] not null default '{}'
);
create table oauth_client (
  ${RECORD},
  integrator_id text references integrator,
  name text not null,
  type text not null check (type in ('CONFIDENTIAL', 'PUBLIC')),
  internal boolean not null default false, grants text[] not null, scopes text[] not null,
  redirect_uris text[] not null default '{}', origins text[] not null default '{}', pilot_agreement text,
  disabled_at timestamptz(3)
);
create index oauth_client_integrator_id_index on oauth_client (integrator_id);
create table oauth_client_secret (
  id serial primary key,
  created_at timestamptz(3) not null,
  client_id text not null references oauth_client,
  digest text not null,
  unique (client_id, digest)
);
create table builder (
  ${TRACKED},
  name text not null, logo_key text, time_zone text,
  constraint builder_logo_key_owner check (starts_with(logo_key, 'logos/' || id || '/'))
);
create table connection (
  id serial primary key,
  ${TIMES},
  integrator_id text not null references integrator,
  builder_id text not null references builder,
  status text not null check (status in ('ACTIVE', 'REVOKED')),
  scopes text[] not null, active_after bigint,
  unique (integrator_id, builder_id)
);

-- People of builders and staff, erasures and the audit log.
-- The form in which names, addresses and texts are compared and searched: \`toComparableText\` of src/shared/comparable-text.ts is the same.
create function comparable_text(value text) returns text language sql immutable strict parallel safe
  return btrim(regexp_replace(normalize(regexp_replace(translate(normalize(casefold(regexp_replace(normalize(value, NFKC),
      '[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufff8\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]',
        '', 'g') collate pg_unicode_fast), NFKC),
      'ı’‘ʼ‐–', 'i''''''--'), 'i\\u0307+', 'i', 'g'), NFKC),
    '[\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+', ' ', 'g'));
-- The words of a text for searches: without accents, each of at most 60 characters.
create function search_words(value text) returns text[] language sql immutable strict parallel safe
  return array(select left(word, 60) from unnest(string_to_array(regexp_replace(regexp_replace(
      translate(normalize(comparable_text(left(value, 1000)), NFKD), 'øłđ', 'old'), '[\\u0300-\\u036f]', '', 'g'),
    '[^[:alnum:]]+' collate pg_unicode_fast, ' ', 'g'), ' ')) word where word <> '');
-- The words of a text and the scope in which they are searched, which is a builder or empty; no word begins like a scope. Indexes have it: it
-- costs more than a scan of them.
create function search_vector(scope text, value text) returns tsvector language sql immutable strict parallel safe cost 1000
  return array_to_tsvector(array_remove(array_append(search_words(value), '=' || scope), '='));
-- Matches the texts of the scope with words that begin with each of the given ones; none where there are none.
create function search_query(scope text, value text) returns tsquery language sql immutable strict parallel safe
  return coalesce(coalesce(quote_literal('=' || nullif(scope, '')) || ' & ', '') ||
    (select string_agg(quote_literal(word) || ':*', ' & ') from unnest(search_words(value)) word), '')::tsquery;
create table app_user (
  ${RECORD},
  name text not null,
  email text not null unique,
  password_hash text, picture_key text, disabled_at timestamptz(3),
  staff_role text check (staff_role in ('VIEWER', 'OPERATOR', 'ADMIN')),
  oidc_issuer text, oidc_subject text,
  unique (oidc_issuer, oidc_subject),
  constraint app_user_picture_key_owner check (starts_with(picture_key, 'pictures/' || id || '/'))
);
create unique index app_user_email_comparable on app_user (comparable_text(email));
${toSearchIndexSql('app_user', "name || ' ' || email", "''")}
create table membership (
  id serial primary key,
  ${TIMES},
  user_id text not null references app_user,
  builder_id text not null references builder,
  role text not null,
  unique (user_id, builder_id)
);
create index membership_builder_id_index on membership (builder_id);
create table password_link (
  digest text primary key, created_at timestamptz(3) not null,
  user_id text not null references app_user on delete cascade,
  purpose text not null check (purpose in ('INVITE', 'RESET')),
  expires_at timestamptz(3) not null
);
${toIndexSql('password_link', 'expires_at', 'user_id, created_at')}
${['console_session', 'oauth_session'].map(toSessionSql).join('\n')}
create table erasure (
  id text primary key,
  kind text not null check (kind in ('PERSON', 'BUILDER')),
  subject_ids text[] not null, pseudonym text, requested_at timestamptz(3) not null,
  due_at timestamptz(3) not null, cancelled_at timestamptz(3), completed_at timestamptz(3),
  pending_keys text[] not null default '{}', builder_ids text[] not null default '{}',
  places jsonb not null default '[]'
);
create index erasure_subject_ids_index on erasure using gin (subject_ids);
create index erasure_kind_completed_at_index on erasure (kind, completed_at);
create unique index erasure_open_builder_unique on erasure (subject_ids)
  where kind = 'BUILDER' and cancelled_at is null and completed_at is null;
create table audit_entry (
  id text primary key, at timestamptz(3) not null,
  actor_type text not null check (actor_type in ('OPERATOR', 'STAFF', 'USER', 'CLIENT', 'JOB', 'IMPORT')),
  actor_id text, action text not null, object_type text not null, object_id text not null,
  builder_id text, integrator_id text, person_id text, origin jsonb not null, values_before jsonb,
  values_after jsonb
);
${toIndexSql('audit_entry', 'actor_id, at', 'at, id', 'builder_id, at', 'object_id, at', 'person_id')}
create index audit_entry_changes on audit_entry (at, id) where action <> 'person.read';

-- The audit log is append-only, except for two functions that run as the owner of its table.
-- The setting alone is not enough: any role can set it, but only the functions below run as the owner for a role that is not.
create function audit_entry_reject_change() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op <> 'TRUNCATE' and pg_catalog.current_setting('audit_log.maintenance', true) = 'on'
    and current_user = (select pg_catalog.pg_get_userbyid(relowner) from pg_catalog.pg_class where oid = tg_relid)
  then return null; end if;
  raise exception 'The audit log is append-only.' using errcode = '42501';
end $$;
create trigger audit_entry_append_only before update or delete on audit_entry
  for each statement execute function audit_entry_reject_change();
create trigger audit_entry_no_truncate before truncate on audit_entry
  for each statement execute function audit_entry_reject_change();

-- Deletes entries of more than a year.
create function audit_purge(before timestamptz, max_rows int) returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
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
end $$;

create function audit_pseudonymize_values(recorded jsonb, person text, pseudonym text) returns jsonb
  language sql immutable set search_path = pg_catalog, pg_temp as $$
select pg_catalog.jsonb_object_agg(key, case
  when key in ('name', 'fullName', 'email', 'phone', 'pictureKey') and value <> 'null' then pg_catalog.to_jsonb(pseudonym)
  else pg_catalog.replace(value::text, pg_catalog.to_json(person)::text, pg_catalog.to_json(pseudonym)::text)::jsonb end)
from pg_catalog.jsonb_each(recorded) $$;

-- Replaces a person by a pseudonym. Only record_erasure calls it.
create function audit_pseudonymize(person text, pseudonym text) returns bigint language plpgsql set search_path = pg_catalog, pg_temp as $$
declare changed bigint;
begin
  perform pg_catalog.set_config('audit_log.maintenance', 'on', true);
  update public.audit_entry entry set
    actor_id = case when actor_id = person then pseudonym else actor_id end,
    -- A person without an account, and one who acts through an application, is the actor of an entry about the person.
    origin = case when actor_id = person or (person_id = person and (actor_id is null or actor_type = 'CLIENT'))
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
end $$;

-- Inserts an erasure unless it exists, or another one of the builder is open, and replaces its person in the audit log. Returns the number of changed entries. A role that does not
-- own the tables can do neither by itself. Records that still have a name, and what is no record of a person, are not replaced, and the
-- pseudonym is that of no erasure without a record of this one: entries cannot be attributed to another person, erased or not.
-- It appends the entry of a person's erasure itself, of today: a caller who then gives the record its name back leaves a trace.
create function record_erasure(recorded jsonb, entry jsonb) returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  added public.erasure := pg_catalog.jsonb_populate_record(null::public.erasure, recorded);
  own public.audit_entry := pg_catalog.jsonb_populate_record(null::public.audit_entry, entry);
  form text := '^Erased person [0-9a-f]{10}$';
  subject text;
  changed bigint := 0;
begin
  if added.kind = 'PERSON' then
    if added.pseudonym is null or added.pseudonym !~ form then
      raise exception 'not a pseudonym: %', added.pseudonym using errcode = '42501';
    end if;
    if added.subject_ids = '{}'
      or not (select pg_catalog.bool_or(subject_ids && added.subject_ids) from public.erasure where pseudonym = added.pseudonym) then
      raise exception '% is another person.', added.pseudonym using errcode = '42501';
    end if;
    foreach subject in array added.subject_ids loop
      if subject !~ '^(user|wkr|pers|con)_[a-z0-9]+$'
        or exists (select from public.app_user where id = subject and name !~ form)
        or exists (select from public.worker where id = subject and full_name !~ form)
        or exists (select from public.person_profile where id = subject and full_name !~ form)
        or exists (select from public.contact where id = subject) then
        raise exception '% is not erased', subject using errcode = '42501';
      end if;
    end loop;
    if exists (select from public.erasure where id = added.id
      and (subject_ids, pseudonym) is distinct from (added.subject_ids, added.pseudonym)) then
      raise exception 'The erasure % is another one.', added.id using errcode = '42501';
    end if;
  elsif added.pseudonym is not null then
    raise exception 'A builder has no pseudonym.' using errcode = '42501';
  end if;
  insert into public.erasure (id, kind, subject_ids, builder_ids, pseudonym, requested_at, due_at, cancelled_at)
    values (added.id, added.kind, added.subject_ids, coalesce(added.builder_ids, '{}'), added.pseudonym, added.requested_at, added.due_at,
      added.cancelled_at)
    on conflict do nothing;
  if added.kind = 'PERSON' then
    foreach subject in array added.subject_ids loop
      changed := changed + public.audit_pseudonymize(subject, added.pseudonym);
    end loop;
    own.at := greatest(own.at, pg_catalog.clock_timestamp() - interval '1 day');
    own.action := 'person.erased';
    own.object_type := 'person';
    own.object_id := added.pseudonym;
    own.person_id := added.pseudonym;
    own.values_after := pg_catalog.jsonb_set(own.values_after, '{rows,AuditEntry}', pg_catalog.to_jsonb(changed));
    insert into public.audit_entry values (own.*);
  end if;
  return changed;
end $$;
revoke all on function audit_purge, audit_pseudonymize, record_erasure from public;

-- Tokens, sessions, and budgets of requests.
create table oauth_token_family (
  id text primary key, created_at timestamptz(3) not null,
  client_id text not null references oauth_client,
  user_id text not null references app_user,
  builder_id text not null references builder,
  scopes text[] not null, resource text, expires_at timestamptz(3) not null, revoked_at timestamptz(3)
);
${toIndexSql('oauth_token_family', 'expires_at', 'user_id')}
create table oauth_authorization_code (
  digest text primary key, created_at timestamptz(3) not null,
  family_id text not null references oauth_token_family on delete cascade,
  redirect_uri text not null, code_challenge text not null,
  code_challenge_method text not null check (code_challenge_method in ('S256', 'PLAIN')),
  expires_at timestamptz(3) not null, used_at timestamptz(3)
);
create index oauth_authorization_code_family_id_index on oauth_authorization_code (family_id);
create table oauth_refresh_token (
  digest text primary key, created_at timestamptz(3) not null,
  family_id text not null references oauth_token_family on delete cascade,
  expires_at timestamptz(3) not null, rotated_at timestamptz(3)
);
${toIndexSql('oauth_refresh_token', 'expires_at', 'family_id')}
create table oauth_revoked_token (jti text primary key, expires_at timestamptz(3) not null);
create index oauth_revoked_token_expires_at_index on oauth_revoked_token (expires_at);
create table oauth_sign_in_attempt (
  key text primary key, failures int not null, retry_at timestamptz(3) not null,
  expires_at timestamptz(3) not null
);
create index oauth_sign_in_attempt_expires_at_index on oauth_sign_in_attempt (expires_at);
create unlogged table rate_budget (
  key text not null, window_end timestamptz(3) not null, leased int not null,
  primary key (key, window_end)
);
create table idempotency_key (
  digest text primary key, fingerprint text not null, record_id text not null, created_at timestamptz(3) not null
);
create index idempotency_key_created_at_index on idempotency_key (created_at);

-- Requests of integrators, and those that failed.
create table usage_day (
  integrator_id text not null references integrator,
  date date not null,
  client_id text not null references oauth_client,
  operation text not null, requests int not null, rejections int not null, failures int not null,
  primary key (integrator_id, date, client_id, operation)
);
create index usage_day_date_index on usage_day (date);
create table request_log (
  id bigserial primary key,
  integrator_id text not null references integrator,
  request_id text not null, at timestamptz(3) not null,
  client_id text not null references oauth_client,
  method text not null, path text not null, graphql_operation text, tool text,
  status int not null, code text not null, message text, errors jsonb, builder_id text, duration_ms int not null
);
${toIndexSql('request_log', 'at', 'request_id', 'integrator_id, at')}

-- Projects, people who work on them, and timesheets.
create table project (
  ${OF_BUILDER},
  status text not null check (status in ('ARCHIVED', 'COMPLETE', 'IN_PROGRESS', 'UPCOMING')),
  name text not null, integrations jsonb not null default '[]'
);
${toIndexSql('project', 'builder_id, changed_at', 'builder_id, created_at, id')}
${toSearchIndexSql('project', 'name')}
create table person_profile (
  ${PART_OF_BUILDER},
  full_name text not null,
  type text not null check (type in ('worker', 'admin'))
);
create index person_profile_builder_id_index on person_profile (builder_id);
${toSearchIndexSql('person_profile', 'full_name')}
create table timesheet_cost_code (
  ${PART_OF_BUILDER},
  code text not null, description text not null,
  unique (builder_id, code)
);
create table timesheet_time_type (
  ${PART_OF_BUILDER},
  name text not null,
  unique (builder_id, name)
);
create table timesheet (
  ${OF_BUILDER},
  project_id text not null references project,
  profile_id text not null references person_profile,
  cost_code_id text references timesheet_cost_code,
  time_type_id text references timesheet_time_type,
  status text not null check (status in ('APPROVED_1', 'APPROVED_2', 'REJECTED', 'WAITING_REVIEW')),
  date timestamptz(3) not null, hours float8 not null, notes text, timesheet_group_id text
);
${toIndexSql('timesheet', 'builder_id, changed_at', 'builder_id, created_at, id include (project_id, status, date)')}
${toIndexSql('timesheet', 'builder_id, date, id include (created_at, project_id, status, cost_code_id, hours)')}
${toIndexSql('timesheet', 'builder_id, status, created_at, id include (project_id, date)')}
${toIndexSql('timesheet', 'cost_code_id, created_at, id include (builder_id, project_id, status, date)', 'profile_id, date')}
${toIndexSql('timesheet', 'project_id, created_at, id include (builder_id, status, date)')}

-- Subcontractors, their documents and workers.
create table subcontractor (
  ${OF_BUILDER},
  name text not null, abn text, is_builder boolean not null default false, address jsonb not null default '{}',
  tags text[] not null default '{}', integrations jsonb not null default '[]', archived_at timestamptz(3)
);
${toIndexSql('subcontractor', 'builder_id, changed_at where archived_at is null', 'builder_id, created_at, id include (is_builder) where archived_at is null')}
${toSearchIndexSql('subcontractor', 'name')}
create unique index subcontractor_company_unique on subcontractor (builder_id) where is_builder and archived_at is null;
create table subcontractor_project (
  id serial primary key,
  subcontractor_id text not null references subcontractor,
  project_id text not null references project,
  statuses text[] not null default '{}'
    check (statuses <@ array['INVITED', 'ACCEPTED', 'SWMS_UPLOADED', 'SWMS_APPROVED', 'INSURANCE_UPLOADED', 'INSURANCE_EXPIRED', 'PREQUALIFIED']),
  unique (subcontractor_id, project_id)
);
create index subcontractor_project_project_id_subcontractor_id_index on subcontractor_project (project_id, subcontractor_id);
create table swms_document (
  ${OF_SUBCONTRACTOR},
  project_id text references project,
  name text not null,
  status text not null check (status in ('WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED')),
  url text, document_key text,
  constraint swms_document_document_key_owner check (starts_with(document_key, 'documents/' || builder_id || '/'))
);
${toIndexSql('swms_document', 'subcontractor_id, changed_at', 'subcontractor_id, created_at, id')}
create table prequalification (
  ${OF_SUBCONTRACTOR},
  status text not null check (status in ('APPROVED', 'REJECTED', 'WAITING_REVIEW', 'SENT')),
  review_comments text
);
${toIndexSql('prequalification', 'subcontractor_id, changed_at', 'subcontractor_id, created_at, id')}
create table insurance (
  ${OF_SUBCONTRACTOR},
  name text not null,
  type text not null check (type in ('PUBLIC_LIABILITY', 'WORK_COVER', 'OTHER')),
  custom_type text,
  status text not null check (status in ('WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED', 'EXPIRED')),
  expiry timestamptz(3), url text, document_key text,
  constraint insurance_document_key_owner check (starts_with(document_key, 'documents/' || builder_id || '/'))
);
${toIndexSql('insurance', 'builder_id, created_at, id', 'builder_id, expiry, id', 'subcontractor_id, changed_at', 'subcontractor_id, created_at, id')}
create table contact (
  ${OF_SUBCONTRACTOR},
  name text not null, email text, phone text, is_primary boolean not null default false,
  type text not null check (type in ('SUBCONTRACTOR', 'BUILDER')),
  project_ids text[] not null default '{}'
);
${toIndexSql('contact', 'subcontractor_id, changed_at', 'subcontractor_id, created_at, id')}
create table worker (
  ${OF_SUBCONTRACTOR},
  full_name text not null
);
${toIndexSql('worker', 'builder_id, created_at, id', 'builder_id, full_name, id', 'subcontractor_id, created_at, id')}
${toSearchIndexSql('worker', 'full_name')}
create table site_access (
  id serial primary key,
  builder_id text not null references builder,
  worker_id text not null references worker,
  project_id text not null references project,
  granted_at timestamptz(3) not null, revoked_at timestamptz(3), listed_at timestamptz(3),
  unique (worker_id, project_id)
);
create index site_access_project_id_listed_at_worker_id_index on site_access (project_id, listed_at, worker_id);
create table induction (
  ${OF_BUILDER},
  project_id text not null references project,
  worker_id text not null references worker,
  subcontractor_id text not null references subcontractor,
  identifier int not null,
  type text not null check (type in ('PROJECT_INDUCTION', 'COMPANY_INDUCTION')),
  status text not null check (status in ('REVIEWED', 'WAITING_REVIEW', 'CHANGES_REQUESTED')),
  data jsonb not null default '[]',
  unique (project_id, identifier)
);
${toIndexSql('induction', 'builder_id, created_at, id include (project_id, status)')}
${toIndexSql('induction', 'builder_id, status, created_at, id include (project_id)', 'project_id, changed_at')}
${toIndexSql('induction', 'project_id, created_at, id include (builder_id, status)', 'subcontractor_id, changed_at')}
${toIndexSql('induction', 'subcontractor_id, created_at, id include (builder_id, project_id, status)', 'worker_id, created_at, id')}

-- Visits of workers, and the events and conflicts that they come from.
create table sign_on_visit (
  ${RECORD},
  ${OF_WORKER},
  signed_on_at timestamptz(3) not null, signed_off_at timestamptz(3), closed_at timestamptz(3),
  closed_by text, archived_at timestamptz(3),
  anomaly text check (anomaly = 'SIGN_OFF_BEFORE_SIGN_ON'),
  closing_reason text
);
${toIndexSql('sign_on_visit', 'builder_id, signed_on_at include (project_id, worker_id) where archived_at is null', 'project_id, signed_on_at')}
create index sign_on_visit_open_of_builder on sign_on_visit (builder_id, created_at, id)
  where signed_off_at is null and closed_at is null and archived_at is null;
create index sign_on_visit_open_on_project on sign_on_visit (project_id, created_at, id)
  where signed_off_at is null and closed_at is null and archived_at is null;
${toIndexSql('sign_on_visit', 'worker_id, created_at, id')}
create table sign_on_event (
  ${RECORD},
  received bigserial,
  integrator_id text not null references integrator,
  ${OF_WORKER},
  source_event_id text not null, source_sign_on_event_id text,
  type text not null check (type in ('SIGN_ON', 'SIGN_OFF')),
  occurred_at timestamptz(3) not null, device_id text,
  status text not null check (status in ('APPLIED', 'PENDING_SIGN_ON', 'REJECTED')),
  rejection text check (rejection in ('EVENT_MISMATCH', 'WORKER_MISMATCH', 'SIGN_ON_REQUIRED', 'ALREADY_SIGNED_OFF', 'ATTENDANCE_CLOSED')),
  visit_id text references sign_on_visit,
  listed_at timestamptz(3)
);
${toIndexSql('sign_on_event', 'integrator_id, project_id, listed_at, id', 'visit_id')}
create index sign_on_event_not_applied_of_builder on sign_on_event (builder_id, status, created_at, id) where status <> 'APPLIED';
create index sign_on_event_not_applied_on_project on sign_on_event (project_id, status, created_at, id) where status <> 'APPLIED';
create index sign_on_event_waiting on sign_on_event (integrator_id, builder_id, project_id, source_sign_on_event_id)
  where status = 'PENDING_SIGN_ON';
-- The last: of indexes that cost the same on an empty table, a plan has the newest.
alter table sign_on_event add constraint sign_on_event_source_key unique (integrator_id, builder_id, project_id, source_event_id);
create table sign_on_conflict (
  id bigserial primary key,
  ${TIMES},
  integrator_id text not null references integrator,
  ${OF_WORKER},
  digest text not null,
  code text not null check (code in ('EVENT_MISMATCH', 'WORKER_MISMATCH', 'SIGN_ON_REQUIRED', 'ALREADY_SIGNED_OFF', 'ATTENDANCE_CLOSED')),
  answers int not null default 1, source_event_id text not null, source_sign_on_event_id text,
  type text not null check (type in ('SIGN_ON', 'SIGN_OFF')),
  occurred_at timestamptz(3) not null, device_id text,
  resolution text check (resolution in ('KEEP_RECORD', 'USE_EVENT_TIME')),
  resolution_reason text, resolved_by text, resolved_at timestamptz(3), listed_at timestamptz(3),
  unique (integrator_id, builder_id, project_id, digest)
);
${toIndexSql('sign_on_conflict', 'integrator_id, project_id, listed_at, id', 'builder_id, created_at, id', 'project_id, created_at, id')}
create index sign_on_conflict_open on sign_on_conflict (builder_id, id) where resolved_at is null;
${toTriggerSql(
  'sign_on_visit_end',
  'after update on sign_on_visit for each row when ((old.signed_off_at, old.closed_at) is distinct from (new.signed_off_at, new.closed_at))',
  "update public.sign_on_event set listed_at = null where visit_id = new.id and type = 'SIGN_ON';",
)}

-- Defects and their locations.
create table project_location (
  ${PART_OF_BUILDER},
  project_id text not null references project,
  name text not null
);
create index project_location_project_id_index on project_location (project_id);
create table defect (
  ${OF_BUILDER},
  identifier int not null,
  project_id text not null references project,
  title text not null, description text,
  status text not null check (status in ('OPEN', 'IN_PROGRESS', 'READY_FOR_REVIEW', 'CLOSED')),
  priority text not null check (priority in ('LOW', 'MEDIUM', 'HIGH')),
  due_date timestamptz(3),
  location_id text references project_location,
  assignees jsonb not null default '[]', photo_ids text[] not null default '{}', closed_at timestamptz(3),
  constraint defect_project_id_identifier_key unique (project_id, identifier)
);
${toIndexSql('defect', 'builder_id, changed_at', 'builder_id, created_at, id include (project_id, status)')}
${toIndexSql('defect', 'builder_id, status, created_at, id include (project_id)', 'project_id, created_at, id include (builder_id, status)')}

-- Meetings and their notes.
create table meeting_template (
  ${PART_OF_BUILDER},
  name text not null, sections jsonb not null default '[]'
);
create index meeting_template_builder_id_index on meeting_template (builder_id);
create table meeting (
  ${OF_BUILDER},
  project_id text references project,
  title text not null, date timestamptz(3) not null,
  status text not null check (status in ('DRAFT', 'DISTRIBUTED', 'RUNNING', 'COMPLETED')),
  agenda text, notes text, note_blocks jsonb not null default '[]',
  template_id text references meeting_template,
  template_response jsonb,
  integrator_id text references integrator,
  source_app text, external_source_id text,
  constraint meeting_source_key unique (integrator_id, builder_id, source_app, external_source_id)
);
${toIndexSql('meeting', 'builder_id, changed_at', 'builder_id, created_at, id include (project_id, status, date)')}
${toIndexSql('meeting', 'builder_id, date include (created_at, id, project_id, status)')}
${toIndexSql('meeting', 'builder_id, status, created_at, id include (project_id, date)', 'project_id, created_at, id include (builder_id, status, date)')}
create table meeting_note (
  ${OF_BUILDER},
  meeting_id text not null references meeting,
  integrator_id text references integrator,
  source_app text, external_source_id text not null, source_deep_link text, source_web_link text,
  title text, summary_markdown text, detail_blocks jsonb not null default '[]', action_items jsonb not null default '[]',
  captured_started_at timestamptz(3), captured_ended_at timestamptz(3), archived_at timestamptz(3)
);
create unique index meeting_note_identity_unique on meeting_note (integrator_id, meeting_id, source_app, external_source_id)
  nulls not distinct;
${toIndexSql('meeting_note', 'meeting_id, changed_at', 'meeting_id, created_at, id')}

-- Photos with their renditions, uploads and photo reports.
create table photo_folder (
  ${OF_BUILDER},
  project_id text references project,
  parent_id text references photo_folder,
  name text not null,
  integrator_id text references integrator,
  source_app text, page_external_source_id text, archived_at timestamptz(3)
);
${toIndexSql('photo_folder', 'builder_id, changed_at', 'builder_id, created_at, id')}
create unique index photo_folder_page_unique on photo_folder (builder_id, project_id, integrator_id, source_app, page_external_source_id)
  nulls not distinct where page_external_source_id is not null and archived_at is null;
${toIndexSql('photo_folder', 'parent_id, created_at, id', 'project_id, created_at, id')}
create table photo (
  ${OF_BUILDER},
  project_id text references project,
  source text not null check (source in ('GALLERY', 'SITE_DIARY', 'PRE_START', 'CHECKLIST', 'ITP', 'PLATFORM_ACTION', 'DEFECT')),
  folder_id text references photo_folder,
  file_name text not null, content_type text not null, key text not null, file_size int not null,
  description text, photo_taken_date timestamptz(3), sort_date timestamptz(3) not null,
  metadata jsonb not null default '{}', archived_at timestamptz(3),
  integrator_id text references integrator,
  source_app text, page_external_source_id text, external_source_id text,
  constraint photo_key_owner check (starts_with(key, 'photos/' || builder_id || '/'))
);
${toIndexSql('photo', 'builder_id, changed_at where archived_at is null')}
${toIndexSql('photo', 'builder_id, created_at, id include (project_id, folder_id, source) where archived_at is null')}
${toIndexSql('photo', 'builder_id, source, created_at, id include (project_id, folder_id) where archived_at is null')}
${toIndexSql('photo', 'folder_id, created_at, id include (builder_id, project_id, source) where archived_at is null', 'key')}
create unique index photo_page_source_unique on photo (builder_id, integrator_id, source_app, page_external_source_id, external_source_id)
  nulls not distinct where page_external_source_id is not null and archived_at is null;
${toIndexSql('photo', 'project_id, created_at, id include (builder_id, folder_id, source) where archived_at is null')}
create unique index photo_source_unique on photo (builder_id, integrator_id, external_source_id)
  nulls not distinct where external_source_id is not null and page_external_source_id is null and archived_at is null;
create table photo_rendition (
  photo_id text primary key references photo on delete cascade,
  created_at timestamptz(3) not null default clock_timestamp(),
  share_key text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'READY', 'FAILED')),
  width int, height int, problem text, attempts int not null default 0, claimed_until timestamptz(3),
  failures int not null default 0
);
create index photo_rendition_due on photo_rendition (share_key, coalesce(claimed_until, created_at), photo_id) where status = 'PENDING';
create table upload (
  key text primary key, created_at timestamptz(3) not null,
  builder_id text not null references builder,
  integrator_id text references integrator,
  file_name text not null, content_type text not null, size int not null,
  consumed_at timestamptz(3), photo_id text, expires_at timestamptz(3), released_at timestamptz(3),
  failed_check jsonb
);
${toIndexSql('upload', 'created_at', 'integrator_id, expires_at include (size) where consumed_at is null and released_at is null')}
create table image_host (host text primary key, created_at timestamptz(3) not null);
create table photo_report (
  ${OF_BUILDER},
  integrator_id text not null references integrator,
  project_id text references project,
  source_app text not null, source_external_id text not null, source_revision int not null,
  status text not null check (status in ('synced', 'partial')),
  title text not null, source_created_at timestamptz(3) not null,
  walkthrough_date timestamptz(3) not null, source_author jsonb not null,
  mapped_admin_user_id text references app_user,
  source_deep_link text, fingerprint text not null,
  content jsonb storage external not null,
  archived_at timestamptz(3)
);
${toIndexSql('photo_report', 'builder_id, created_at, id', 'project_id, created_at, id')}
-- After the others: of indexes with equal costs, which those of an empty table have, PostgreSQL uses the last one.
alter table photo_report add unique (builder_id, source_app, source_external_id);
create table photo_report_page (
  id text primary key,
  report_id text not null references photo_report,
  parent_id text references photo_report_page,
  path text[] not null, path_digest text not null,
  unique (report_id, path_digest)
);
create index photo_report_page_parent_id_index on photo_report_page (parent_id);

-- Queues the renditions of new photos, and of photos whose bytes are replaced.
create function photo_rendition_queue() returns trigger language plpgsql set search_path = '' as $$
begin
  if tg_op = 'INSERT' then
    insert into public.photo_rendition (photo_id, share_key) select id, coalesce(integrator_id, builder_id) from changed;
  else
    insert into public.photo_rendition (photo_id, share_key) values (new.id, coalesce(new.integrator_id, new.builder_id))
      on conflict (photo_id) do update set status = 'PENDING', width = null, height = null, problem = null, attempts = 0, failures = 0,
        claimed_until = null, created_at = excluded.created_at;
  end if;
  return null;
end $$;
create trigger photo_rendition_insert after insert on photo
  referencing new table as changed for each statement execute function photo_rendition_queue();
create trigger photo_rendition_update after update on photo
  for each row when (old.key is distinct from new.key) execute function photo_rendition_queue();

-- Totals of large lists, which the triggers of toTotalSql write.
-- Compacted rows are vacuumed by their number: each page of a list reads those of its builder, dead rows included.
create table list_total (
  id bigserial primary key,
  list text not null, builder_id text not null, project_id text, kind text not null, added int not null,
  parent_id text
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
${toIndexSql('list_total', 'builder_id, list, project_id, kind include (added) where parent_id is null')}
${toIndexSql('list_total', 'parent_id, list, kind include (added) where parent_id is not null', 'project_id, list, kind include (added)')}

-- Endpoints of webhooks, and their deliveries.
create table webhook_endpoint (
  ${RECORD},
  integrator_id text not null references integrator,
  client_id text not null references oauth_client,
  url text not null, types text[], builder_ids text[],
  status text not null check (status in ('ACTIVE', 'PAUSED', 'DISABLED')),
  disabled_reason text check (disabled_reason in ('GONE', 'NO_SUCCESS', 'CLIENT_DISABLED')),
  secret text not null, previous_secrets jsonb not null default '[]', deleted_at timestamptz(3)
);
${toIndexSql('webhook_endpoint', 'status where deleted_at is null', 'deleted_at where deleted_at is not null', 'integrator_id, created_at, id')}
create table webhook_progress (
  endpoint_id text primary key references webhook_endpoint on delete cascade,
  day text not null, number bigint not null, replay_until bigint,
  failures int not null default 0, failing_since timestamptz(3), suspended_until timestamptz(3)
);
create table webhook_delivery (
  id text primary key, created_at timestamptz(3) not null,
  endpoint_id text not null references webhook_endpoint on delete cascade,
  event_id text not null, type text not null, builder_id text not null, number bigint not null,
  record_id text not null, project_id text, parent_id text, occurred_at timestamptz(3) not null,
  status text not null check (status in ('PENDING', 'DELIVERED', 'FAILED', 'DROPPED')),
  attempts int not null, first_attempt_at timestamptz(3), last_attempt_at timestamptz(3),
  next_attempt_at timestamptz(3), leased_until timestamptz(3), response_status int, response_body text, error text,
  unique (endpoint_id, event_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
${toIndexSql('webhook_delivery', 'created_at', 'endpoint_id, id')}
${toIndexSql('webhook_delivery', "endpoint_id, next_attempt_at where status = 'PENDING'", "endpoint_id, record_id, number where status = 'PENDING'")}
${toIndexSql('webhook_delivery', "endpoint_id, status, id where status <> 'DELIVERED'")}
create table snapshot (
  id text primary key,
  integrator_id text not null references integrator,
  client_id text not null references oauth_client,
  builder_id text not null references builder,
  status text not null check (status in ('PENDING', 'RUNNING', 'READY', 'FAILED', 'EXPIRED')),
  resources text[] not null, scopes text[] not null,
  progress jsonb not null default '{"done": 0, "total": 0}', event_cursor text, files jsonb not null default '[]',
  created_at timestamptz(3) not null, finished_at timestamptz(3), expires_at timestamptz(3), deleted_at timestamptz(3),
  downloaded_at timestamptz(3), attempts int not null default 0, leased_until timestamptz(3), erasures text,
  has_files boolean not null default false
);
${toIndexSql('snapshot', 'integrator_id, created_at, id', 'status, has_files')}

-- Tables of the event log, which the triggers of toEventSql write.
-- One row, which the first numbering creates, so that a restore of data alone finds none.
create table event_log (
  id boolean primary key default true check (id),
  epoch text not null,
  secret uuid not null,
  origin text not null, last_number bigint not null, last_day date not null, dropped_number bigint not null default 0,
  -- Transactions that are visible in it are numbered, except those of the backlog. Null: not known, such as after a restore.
  seen pg_snapshot,
  -- Whether commits waited for a standby when the log was last numbered. It reaches the standby with the log.
  synchronous boolean not null default false
);
create table event (
  day date not null, number bigint not null, id text not null, type text not null,
  record_id text not null, builder_id text not null, project_id text, parent_id text, occurred_at timestamptz(3) not null,
  primary key (day, number)
) partition by RANGE (day);
-- Events that are not numbered yet. Rows live for a moment, so that vacuuming by share of the table would be too late.
create table event_pending (
  transaction_id xid8 not null default pg_current_xact_id(),
  record_id text not null,
  seq bigint generated by default as identity,
  resource text not null, change text not null, builder_id text not null, project_id text, parent_id text,
  occurred_at timestamptz(3) not null default clock_timestamp(),
  primary key (record_id, transaction_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);
create index event_pending_transaction_id_seq_index on event_pending (transaction_id, seq);
-- Transactions that are numbered in part, or not yet.
create table event_backlog (transaction_id xid8 primary key, after_seq bigint not null);

-- Numbering of the event log.
-- The cluster, its timeline, the database and the table: a restore or a promotion changes one of them.
create function event_log_origin() returns text language sql stable set search_path = '' as $$
select concat_ws('/', (select system_identifier from pg_control_system()),
  left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
  (select oid from pg_database where datname = current_database()), 'public.event_log'::regclass::oid) $$;

create function is_replication_synchronous() returns boolean language sql stable set search_path = '' as $$
select current_setting('synchronous_standby_names') <> ''
  and current_setting('synchronous_commit') in ('on', 'remote_apply', 'remote_write') $$;

create function is_promotion(origin text) returns boolean language sql stable set search_path = '' as $$
select regexp_replace(origin, '/[0-9A-F]{8}/', '/') = regexp_replace(public.event_log_origin(), '/[0-9A-F]{8}/', '/') $$;

-- Creates the partition of a day. It runs as the owner of the log, which the role of the service need not be. The second of two processes
-- waits for the first, and queries the catalogue behind the lock: to_regclass answers from a cache that waiting does not renew.
create function create_event_partition(at date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  name text := 'event_' || to_char(at, 'YYYYMMDD');
begin
  if to_regclass('public.' || name) is null then
    perform pg_advisory_xact_lock(hashtextextended('create ' || name, 0));
    if exists (select from pg_class where relname = name and relnamespace = 'public'::regnamespace) then return; end if;
    execute format('create table if not exists public.%I (like public.event including all)', name);
    -- Attaching locks the log less than creating a partition does: readers go on.
    execute format('alter table public.event attach partition public.%I for values from (%L) to (%L)', name, at, at + 1);
  end if;
end $$;

-- Drops the partition of a day that is no longer kept, and records its highest number, by which old cursors are recognised.
create function drop_event_partition(at date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  name text := 'event_' || to_char(at, 'YYYYMMDD');
  last bigint;
begin
  execute format('select max(number) from public.%I', name) into last;
  update public.event_log set dropped_number = greatest(dropped_number, last);
  execute format('drop table public.%I', name);
end $$;
revoke all on function create_event_partition, drop_event_partition from public;

-- Gives the log a new epoch and secret, and creates it where there is none.
create function renew_event_epoch() returns text language plpgsql set search_path = '' as $$
declare
  renewed text := replace(gen_random_uuid()::text, '-', '');
  last public.event;
begin
  select * into last from public.event order by day desc, number desc limit 1;
  insert into public.event_log as log (epoch, secret, origin, last_number, last_day)
    -- Endpoints of webhooks and connections keep positions when the log is not restored: numbers continue after them.
    values (renewed, gen_random_uuid(), public.event_log_origin(), greatest(0, last.number,
      (select max(number) from public.webhook_progress), (select max(active_after) from public.connection)),
      greatest(last.day, (clock_timestamp() at time zone 'UTC')::date))
    on conflict (id) do update set epoch = excluded.epoch, secret = excluded.secret, origin = excluded.origin,
      last_number = greatest(log.last_number, excluded.last_number);
  return renewed;
end $$;

${toAssignmentSql('reset_event_snapshot', 'seen := null')}
create trigger event_log_epoch before update on event_log
  for each row when (old.epoch <> new.epoch) execute function reset_event_snapshot();

-- Transactions with pending events that are visible in the snapshot until and not in seen.
create function pending_transactions(seen pg_snapshot, until pg_snapshot, max_count int) returns setof xid8
  language sql stable set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
with recursive bound(low) as (
    select (pg_snapshot_xmax(seen)::text::numeric - 1)::text::xid8
    union all select id from pg_snapshot_xip(until) id where id >= pg_snapshot_xmax(seen)),
  interval(low, high) as (
    select low, lead(low, 1, pg_snapshot_xmax(until)) over (order by low) from bound
    union all select (id::text::numeric - 1)::text::xid8, (id::text::numeric + 1)::text::xid8
      from pg_snapshot_xip(seen) id where pg_visible_in_snapshot(id, until)),
  found(id, high) as (
    select next.transaction_id, high from interval cross join lateral (
      select transaction_id from public.event_pending where transaction_id > low and transaction_id < high
        order by transaction_id limit 1) next
    union all
    select next.transaction_id, high from found cross join lateral (
      select transaction_id from public.event_pending where transaction_id > id and transaction_id < high
        order by transaction_id limit 1) next)
  select id from found limit max_count $$;

-- Numbers committed events, a share of each transaction at a time. The lock of the log's row makes it the only one; it returns null where
-- another process has the lock. The sequence of a record's events is taken under the lock of its row, so that it is their commit order: an
-- event waits while an earlier one of its record has no number. Each step reads what a batch needs, and not all that waits: one that runs into
-- the timeout of statements would do so again each time. seen_state is what the caller saw of the log before: its origin, epoch and last
-- number; null while a caller that saw it may come, and without properties when none comes.
create function number_events(batch_size int, seen_state jsonb default '{}') returns int
  language plpgsql set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
declare
  max_transactions constant int := 2000;
  log public.event_log;
  until pg_snapshot;
  stop xid8;
  fresh xid8[] := '{}';
  share int;
  today date;
  numbered int;
begin
  if pg_is_in_recovery() then return null; end if;
  select * into log from public.event_log;
  -- Without the lock, which is a write, while nothing is to be done.
  if log.origin = public.event_log_origin() and log.synchronous = public.is_replication_synchronous()
    and log.seen is not null and not exists (select from public.event_backlog)
    and not exists (select from public.pending_transactions(log.seen, pg_current_snapshot(), 1)) then return 0; end if;
  select * into log from public.event_log for update skip locked;
  if not found then
    if exists (select from public.event_log) then return null; end if;
    perform public.renew_event_epoch();
    select * into log from public.event_log for update;
  elsif log.origin <> public.event_log_origin() then
    if log.synchronous and public.is_promotion(log.origin) and seen_state is null then return null; end if;
    if log.synchronous and public.is_promotion(log.origin) and seen_state ->> 'origin' = log.origin
      and seen_state ->> 'epoch' = log.epoch
      and (seen_state ->> 'number')::bigint <= log.last_number then
      update public.event_log set origin = public.event_log_origin();
    else
      perform public.renew_event_epoch();
    end if;
    select * into log from public.event_log;
  end if;
  if log.synchronous <> public.is_replication_synchronous() then
    update public.event_log set synchronous = public.is_replication_synchronous();
  end if;
  until := pg_current_snapshot();
  if log.seen is null then
    -- Ids of transactions may be those of another cluster, and higher than any of this one.
    delete from public.event_backlog;
    fresh := array(select public.pending_transactions('1:1:',
      regexp_replace(until::text, ':\\d+:', ':9223372036854775807:')::pg_snapshot, max_transactions));
    -- More may wait: the next call looks again.
    if cardinality(fresh) = max_transactions then until := null; end if;
  elsif (select count(*) from public.event_backlog) >= max_transactions then
    -- After an outage: those that are known come first.
    until := log.seen;
  else
    -- Counted from the first that has begun since, never from one that was open: what was seen remains seen.
    select min(id) filter (where id >= pg_snapshot_xmax(log.seen)) into stop
      from public.pending_transactions(log.seen, until, max_transactions) id;
    stop := (stop::text::numeric + max_transactions)::text::xid8;
    if stop < pg_snapshot_xmax(until) then
      select format('%s:%s:%s', coalesce(min(id), stop), stop, string_agg(id::text, ',' order by id))::pg_snapshot
        into until from pg_snapshot_xip(until) id where id < stop;
    end if;
    -- Without a snapshot, the backlog also has transactions that have ended since the snapshot of that call.
    fresh := array(select public.pending_transactions(log.seen, until, null) except select transaction_id from public.event_backlog);
  end if;
  -- Not less than a tenth: events of most transactions may wait for earlier ones of a large one, which would take hours.
  share := greatest(1, batch_size / greatest(1, least(10, cardinality(fresh) + (select count(*) from public.event_backlog))));
  today := greatest(log.last_day, (clock_timestamp() at time zone 'UTC')::date);
  perform public.create_event_partition(today);
  with waiting as materialized (
      select transaction_id, after_seq from public.event_backlog union all select id, 0 from unnest(fresh) id
        order by after_seq, transaction_id limit batch_size),
    -- Each row is found by an index or its ctid, however wrong the estimates of a table are that is filled and emptied all the time.
    -- A transaction whose rows were removed has one row of nulls.
    chosen as materialized (
      select waiting.transaction_id, row_id, record_id, seq from waiting left join lateral (
        select pending.ctid as row_id, record_id, seq from public.event_pending pending
          where pending.transaction_id = waiting.transaction_id and pending.seq > waiting.after_seq
          order by seq limit share) pending on true limit batch_size),
    -- The rows of each record at once, of which there may be any number. Sorted rather than looked up in the chosen ones, which
    -- would not be hashed where the estimate is too high.
    checked as materialized (
      select *, coalesce(min(seq) filter (where not is_chosen) over (partition by record_id) < seq, false) as is_blocked
      from (select row_id, transaction_id, record_id, seq, bool_or(is_chosen) as is_chosen
        from (select *, true as is_chosen from chosen where row_id is not null
          union all select pending.*, false from (select distinct record_id from chosen) record cross join lateral (
            select transaction_id, ctid as row_id, record_id, seq from public.event_pending pending
              where pending.record_id = record.record_id offset 0) pending) candidate
        group by row_id, transaction_id, record_id, seq) candidate),
    batch as (
      delete from public.event_pending
        where ctid = any(array(select row_id from checked where is_chosen and not is_blocked)) returning *),
    numbered_events as (
      insert into public.event (day, number, id, type, record_id, builder_id, project_id, parent_id, occurred_at)
        select today, number, 'evt_a' || md5(log.secret || ' ' || number), resource || '.' || change,
          record_id, builder_id, project_id, parent_id, occurred_at
        from (select log.last_number + row_number() over (order by seq) as number, * from batch) numbered),
    progress as materialized (
      select transaction_id, after_seq, not exists (select from public.event_pending pending
          where pending.transaction_id = done.transaction_id and pending.seq > after_seq) as is_finished
      from (select transaction_id, coalesce(min(seq) filter (where is_blocked) - 1, max(seq)) as after_seq
          from checked where is_chosen group by transaction_id
        union all select transaction_id, null from chosen where row_id is null) done),
    finished as (
      delete from public.event_backlog
        where transaction_id = any(array(select transaction_id from progress where is_finished))),
    unfinished as (
      insert into public.event_backlog
        select transaction_id, after_seq from progress where not is_finished
        union all (select id, 0 from unnest(fresh) id except select transaction_id, 0 from chosen)
        on conflict (transaction_id) do update set after_seq = excluded.after_seq)
    select count(*) into numbered from batch;
  update public.event_log set last_number = log.last_number + numbered, last_day = today, seen = until;
  return numbered;
end $$;

-- Order of changes of the lists that gates read. A row has no place in it until its change is committed: no reader has passed a time that a
-- change gets afterwards, however long its transaction was open.
-- Milliseconds since the epoch of the latest place, which a clock that was set back does not repeat.
create sequence change_time;
-- Workers, or all workers of subcontractors, whose entries of the roster have changed.
-- Keys that no other database makes: a restore of data alone may have rows of both.
create table roster_change (id uuid primary key default gen_random_uuid(), worker_id text, subcontractor_id text);
${toAssignmentSql('reset_listed_at', 'listed_at := null')}

-- Gives committed changes their place, and returns how many: at most so many of each table, and of changes of the roster. A row that an open
-- transaction has changed again is left for a later call, so that nothing waits for that transaction. Each statement has its own snapshot,
-- so that what is listed was committed before the call, or before the lock that the call waited for.
create function list_changes(max_rows int) returns int language plpgsql set search_path = '' as $$
declare
  list text;
  place timestamptz;
  changed int;
  total int := 0;
begin
  -- Also a standby, whose readers have what the primary has listed.
  if current_setting('transaction_read_only')::boolean then return 0; end if;
  if not exists (select from public.roster_change) and not exists (select from public.site_access where listed_at is null)
    and not exists (select from public.sign_on_event where listed_at is null)
    and not exists (select from public.sign_on_conflict where listed_at is null) then return 0; end if;
  perform pg_advisory_xact_lock(hashtextextended('list_changes', 0));
  select to_timestamp(setval('public.change_time',
    greatest(ceil(extract(epoch from clock_timestamp()) * 1000)::bigint, last_value + 1)) / 1000.0) into place from public.change_time;
  with taken as materialized (select id as change, worker_id, subcontractor_id from public.roster_change limit max_rows),
    entry as materialized (
      select change, access.id from taken join public.site_access access using (worker_id)
      union all
      select change, access.id from taken join public.worker on worker.subcontractor_id = taken.subcontractor_id
        join public.site_access access on access.worker_id = worker.id),
    available as materialized (
      select id from public.site_access where id = any(array(select id from entry)) for no key update skip locked),
    listed as (update public.site_access set listed_at = place where id = any(array(select id from available)))
    delete from public.roster_change where id = any(array(select change from taken
      except select change from entry where id not in (select id from available)));
  get diagnostics total = row_count;
  foreach list in array '{site_access, sign_on_event, sign_on_conflict}'::text[] loop
    execute format('update public.%1$I set listed_at = $1 where id = any(array(
      select id from public.%1$I where listed_at is null limit $2 for no key update skip locked))', list) using place, max_rows;
    get diagnostics changed = row_count;
    total := total + changed;
  end loop;
  return total;
end $$;

${toAssignmentSql('set_changed_at', 'changed_at := clock_timestamp()')}

-- Keeps where the event log was when a connection was made active again.
${toAssignmentSql('set_active_after', 'active_after := (select last_number from public.event_log)')}
create trigger connection_reactivated before update on connection
  for each row when (old.status <> 'ACTIVE' and new.status = 'ACTIVE') execute function set_active_after();

-- A revocation drops the deliveries that wait. Those under way are not repeated: each attempt checks the connection.
${toTriggerSql(
  'connection_revoked',
  "after update on connection for each row when (old.status = 'ACTIVE' and new.status <> 'ACTIVE')",
  `update public.webhook_delivery set status = 'DROPPED', next_attempt_at = null, leased_until = null
    where endpoint_id in (select id from public.webhook_endpoint where integrator_id = old.integrator_id)
      and builder_id = old.builder_id and status = 'PENDING' and (leased_until is null or leased_until < clock_timestamp());`,
)}
`;

const STATEMENTS = ['insert', 'update', 'delete'] as const;

/** Returns the scope of a trigger that has the changed rows of each statement. */
const toStatementScope = (event: (typeof STATEMENTS)[number], table: string) =>
  `after ${event} on ${table} referencing ${event === 'delete' ? 'old' : 'new'} table as changed for each statement`;

/** A list with stored totals, and the columns that they are divided by. */
interface CountedList {
  table: string;
  kind: string;
  project?: string | null;
  parent?: string;
  active?: string;
}

const COUNTED_LISTS: CountedList[] = [
  { table: 'timesheet', kind: 'status' },
  { table: 'photo', kind: 'source', parent: 'folder_id', active: 'archived_at is null' },
  { table: 'meeting', kind: 'status' },
  { table: 'defect', kind: 'status' },
  { table: 'induction', kind: 'status', parent: 'subcontractor_id' },
  { table: 'subcontractor', kind: 'is_builder', project: null, active: 'archived_at is null' },
];

/** Returns SQL of the triggers that append the changes of a list's totals. */
function toTotalSql({ table, kind, project = 'project_id', parent, active = 'true' }: CountedList): string {
  const sumBy = (projectId: string, parentId: string, condition: string, rows: string) => `
      select '${table}', builder_id, ${projectId}, ${parentId}, ${kind}::text, sum(added) from (${rows}) changes
        where ${condition} group by 2, 3, 4, 5 having sum(added) <> 0`;
  const count = (rows: string) => {
    const sums = [sumBy(project ?? 'null::text', 'null::text', active, rows)];
    if (parent) sums.push(sumBy('null::text', parent, `${active} and ${parent} is not null`, rows));
    return `insert into public.list_total (list, builder_id, project_id, parent_id, kind, added) ${sums.join(' union all ')};`;
  };
  const columns = ['builder_id', project, kind, parent, active === 'true' ? null : 'archived_at'].filter(Boolean);
  const versions = `select ${columns.map((name) => `(version).${name}`).join(', ')}, added from (values (old, -1), (new, 1)) versions (version, added)`;
  const key = (row: string) => columns.map((name) => `${row}.${name === 'archived_at' ? active : name}`).join(', ');
  return `
create function public.${table}_total() returns trigger language plpgsql set search_path = '' as $$
  begin
    if tg_op = 'INSERT' then ${count('select *, 1 as added from changed')}
    elsif tg_op = 'DELETE' then ${count('select *, -1 as added from changed')}
    else ${count(versions)}
    end if;
    return null;
  end $$;
create trigger ${table}_total_insert ${toStatementScope('insert', table)} execute function public.${table}_total();
create trigger ${table}_total_delete ${toStatementScope('delete', table)} execute function public.${table}_total();
create trigger ${table}_total_update after update on ${table}
  for each row when ((${key('old')}) is distinct from (${key('new')})) execute function public.${table}_total();`;
}

/** Tables with an order of changes, as in `entities/change-list.ts`. */
const CHANGE_LISTS = ['site_access', 'sign_on_event', 'sign_on_conflict'];

/** Changes that are changes of entries of the roster: of its id, or of columns that entries show. Default of `key`: `worker_id`. */
const ROSTER_CHANGES: { table: string; event: (typeof STATEMENTS)[number]; key?: string; columns: string[] }[] = [
  { table: 'worker', event: 'update', columns: ['id', 'full_name', 'subcontractor_id'] },
  { table: 'subcontractor', event: 'update', key: 'subcontractor_id', columns: ['id', 'name', 'archived_at'] },
  { table: 'induction', event: 'update', columns: ['worker_id', 'project_id', 'status', 'created_at'] },
  { table: 'induction', event: 'insert', columns: ['worker_id'] },
  { table: 'induction', event: 'delete', columns: ['worker_id'] },
];

/** A resource whose changes are events, as in `entities/published.ts`. */
interface PublishedResource {
  table: string;
  resource?: string;
  builder?: string;
  project?: boolean;
  parent?: string;
  archivable?: boolean;
  tracked?: boolean;
}

const PUBLISHED_RESOURCES: PublishedResource[] = [
  { table: 'builder', builder: 'id' },
  { table: 'contact', parent: 'subcontractor_id' },
  { table: 'defect', project: true },
  { table: 'induction', project: true },
  { table: 'insurance', parent: 'subcontractor_id' },
  { table: 'meeting', project: true },
  { table: 'meeting_note', parent: 'meeting_id', archivable: true },
  { table: 'photo', parent: 'source', project: true, archivable: true },
  { table: 'photo_folder', project: true, archivable: true },
  { table: 'photo_report', project: true, archivable: true },
  { table: 'prequalification', parent: 'subcontractor_id' },
  { table: 'project' },
  { table: 'subcontractor', archivable: true },
  { table: 'swms_document', parent: 'subcontractor_id', project: true },
  { table: 'timesheet', project: true },
  { table: 'timesheet_cost_code', resource: 'cost_code', tracked: false },
  { table: 'timesheet_time_type', resource: 'time_type', tracked: false },
  { table: 'worker' },
];

/** Returns SQL of the triggers that record the changes of a resource's rows. */
function toEventSql(published: PublishedResource): string {
  const { table, resource = table, builder = 'builder_id', project, parent, archivable, tracked = true } = published;
  const time = (row: string) => (tracked ? `${row}.changed_at` : 'clock_timestamp()');
  const insert = (row: string, change: string, at: string, from = '') => {
    const columns = ['id', builder, project && 'project_id', parent].map((name) => (name ? `${row}.${name}` : 'null'));
    return `insert into public.event_pending as pending (resource, change, record_id, builder_id, project_id, parent_id, occurred_at)
    select '${resource}', ${change}, ${columns.join(', ')}, ${at}${from}
    on conflict (transaction_id, record_id) do update set occurred_at = excluded.occurred_at, change = case
      when excluded.change = 'archived' then 'archived'
      when pending.change = 'archived' and excluded.change <> 'updated' then 'updated'
      when pending.change = 'updated' and excluded.change = 'restored' then 'restored'
      else pending.change end;`;
  };
  const active = archivable ? ' where changed.archived_at is null' : '';
  const all = (change: string, at: string, rows = 'changed') =>
    insert('changed', `'${change}'`, at, ` from ${rows} changed${active}`);
  const changes = { insert: 'created', update: 'updated', delete: 'archived' };
  const triggers = STATEMENTS.map((event) => {
    const at = event === 'delete' ? 'clock_timestamp()' : time('changed');
    return toTriggerSql(`${table}_event_${event}`, toStatementScope(event, table), all(changes[event], at));
  });
  const truncated = all('archived', 'clock_timestamp()', `public.${table}`);
  triggers.push(toTriggerSql(`${table}_event_truncate`, `before truncate on ${table} for each statement`, truncated));
  if (archivable) {
    const scope = `after update on ${table} for each row when ((old.archived_at is null) <> (new.archived_at is null))`;
    const change = `case when new.archived_at is null then 'restored' else 'archived' end`;
    triggers.push(toTriggerSql(`${table}_event_archive`, scope, insert('new', change, time('new'))));
  }
  const updating = `before update on ${table} for each row`;
  if (tracked)
    triggers.push(`create trigger ${table}_changed_at ${updating} execute function public.set_changed_at();`);
  return triggers.join('\n');
}

/** Read statements of the comparison services. Each is prepared once per connection under its name. */

interface Statement {
  name: string;
  text: string;
}

export const BUILDER_EXISTS: Statement = { name: 'builder-exists', text: 'select 1 from builder where id = $1' };

/** Parameters: ids, limit, offset. */
export const LIST_BUILDERS: Statement = {
  name: 'builders',
  text: `select total, id, name, logo_key, created_at, updated_at
    from (select count(*)::int as total from builder where id = any($1)) counted
    left join (select * from builder where id = any($1) order by created_at, id limit $2 offset $3) page on true
    order by created_at, id`,
};

/** Returns the statement of a list. Parameters: builder id, limit, offset, then the present filters. */
export function createTimesheetsStatement(filters: { projectId?: string; status?: string }): Statement {
  const conditions = ['builder_id = $1'];
  if (filters.projectId !== undefined) conditions.push('project_id = $4');
  if (filters.status !== undefined) conditions.push(`status = $${3 + conditions.length}`);
  const where = conditions.join(' and ');
  return {
    name: `timesheets ${Object.keys(filters)}`,
    text: `select total, t.id, t.status, t.date, t.hours, t.notes, t.timesheet_group_id, t.created_at, t.updated_at,
        time_type.name as time_type, cost_code.code || ' - ' || cost_code.description as cost_code,
        profile.id as profile_id, profile.full_name, profile.type as profile_type,
        project.id as project_id, project.name as project_name
      from (select count(*)::int as total from timesheet where ${where}) counted
      left join (
        select * from timesheet where ${where} order by created_at, id limit $2 offset $3
      ) t on true
      left join project on project.id = t.project_id
      left join person_profile profile on profile.id = t.profile_id
      left join timesheet_time_type time_type on time_type.id = t.time_type_id
      left join timesheet_cost_code cost_code on cost_code.id = t.cost_code_id
      order by t.created_at, t.id`,
  };
}

/** Returns the statement of one subcontractor. Parameters: id, then the project id where there is one. */
export function createSubcontractorStatement(projectId: string | undefined): Statement {
  const projectCondition = projectId === undefined ? '' : 'and project_id = $2';
  return {
    name: projectId === undefined ? 'subcontractor' : 'subcontractor of project',
    text: `select id, builder_id, name, abn, is_builder, address, to_json(tags) as tags, integrations, created_at, updated_at,
        to_json(array(select unnest(statuses) from subcontractor_project where subcontractor_id = $1 ${projectCondition})) as statuses
      from subcontractor where id = $1 and archived_at is null`,
  };
}

/** Statuses in the order in which a subcontractor obtains them. */
export const STATUS_ORDER = [
  'INVITED',
  'ACCEPTED',
  'SWMS_UPLOADED',
  'SWMS_APPROVED',
  'INSURANCE_UPLOADED',
  'INSURANCE_EXPIRED',
  'PREQUALIFIED',
];

/** Returns the statement of a list. Parameters: builder id, limit, offset, then the present filters. */
export function createPhotosStatement(filters: { projectId?: string; folderId?: string }): Statement {
  const conditions = ['builder_id = $1', "source = 'GALLERY'", 'archived_at is null'];
  if (filters.projectId !== undefined) conditions.push('project_id = $4');
  if (filters.folderId !== undefined) conditions.push(`folder_id = $${1 + conditions.length}`);
  const where = conditions.join(' and ');
  return {
    name: `photos ${Object.keys(filters)}`,
    text: `select total, id, builder_id, project_id, source, folder_id, file_name, content_type, key, file_size,
        description, photo_taken_date, sort_date, metadata, created_at, updated_at
      from (select count(*)::int as total from photo where ${where}) counted
      left join (select * from photo where ${where} order by created_at, id limit $2 offset $3) page on true
      order by created_at, id`,
  };
}

/** Parameter: client id. The newest two secrets of a client are valid. */
export const FIND_CLIENT: Statement = {
  name: 'client',
  text: `select type, to_json(grants) as grants, to_json(scopes) as scopes, to_json(array(
      select digest from oauth_client_secret where client_id = $1 order by created_at desc, id desc limit 2)) as digests
    from oauth_client where id = $1 and disabled_at is null`,
};

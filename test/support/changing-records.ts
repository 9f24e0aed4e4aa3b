/** Each statement changes some records of one resource; `$1` chooses them. */
export const CHANGES = [
  `update timesheet set hours = hours + 1 where md5(id || $1) < '03'`,
  `update subcontractor set archived_at = case when archived_at is null and not is_builder then now() end where md5(id || $1) < '20'`,
  `update insurance set name = 'I ' || $1 where md5(id || $1) < '10'`,
  `update swms_document set status = 'REVIEWED' where md5(id || $1) < '10'`,
  `update contact set phone = $1 where md5(id || $1) < '10'`,
  `update subcontractor_project set statuses = '{ACCEPTED}' where md5(id || $1) < '10'`,
  `update meeting set title = 'M ' || $1 where md5(id || $1) < '20'`,
  `update meeting_note set archived_at = case when archived_at is null then now() end where md5(id || $1) < '40'`,
  `update induction set status = 'REVIEWED' where md5(id || $1) < '08'`,
  `update defect set title = 'D ' || $1 where md5(id || $1) < '20'`,
  `update photo set archived_at = case when archived_at is null then now() end where md5(id || $1) < '20'`,
  `update photo set description = $1 where md5(id || $1) < '20'`,
  `update project set status = 'COMPLETE' where md5(id || $1) < '10'`,
  `update timesheet_cost_code set description = 'C ' || $1 where md5(id || $1) < '02'`,
  `insert into defect (id, created_at, updated_at, identifier, builder_id, project_id, title, status, priority)
     select 'defect_sync' || $1, now(), now(), 100000 + $1::int, builder_id, id, 'new', 'OPEN', 'LOW' from project order by id limit 1`,
  `delete from timesheet where md5(id || $1) < '002'`,
];

/** Statements of an import that writes rows an hour before its commit, of resources without a path for one record. */
export const LONG_IMPORT = ['meeting', 'meeting_note', 'contact'].map(
  (table) => `insert into ${table} select (jsonb_populate_record(${table}, jsonb_build_object('id', id || 'imported',
    'external_source_id', id, 'changed_at', clock_timestamp() - random() * interval '1 hour'))).* from ${table}`,
);

/** Rows without signed URLs and the names of other records that are embedded in them. */
export function withoutEmbedded(rows: Map<string, { row: object }>): Map<string, object> {
  const embedded = [
    'imageUrl',
    'url',
    'logoUrl',
    'costCode',
    'timeType',
    'profile',
    'project',
    'worker',
    'subcontractor',
  ];
  return new Map(
    [...rows]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, { row }]) => [
        key,
        Object.fromEntries(Object.entries(row).filter(([name]) => !embedded.includes(name))),
      ]),
  );
}

export const PROJECTS_PER_BUILDER = 25;
export const SUBCONTRACTORS_PER_BUILDER = 75;
const WORKERS_PER_BUILDER = 500;
const INDUCTIONS_PER_PROJECT = 60;
const PHOTOS_PER_BUILDER = 2_000;

/**
 * Returns the SQL expression of a row's id. Ids have the length of real ones and the order of the row numbers. Their random part is a
 * digest, so that the data are deterministic.
 *
 * @param number SQL expression of the row number.
 */
export const toIdExpression = (prefix: string, number: string) =>
  `'${prefix}_a0mkq' || lpad((${number})::text, 8, '0') || substr(md5('${prefix}' || (${number})), 1, 12)`;

/** Returns the statements that insert photos and the records of the dashboards, for all builders. */
export function createBuilderDataStatements(builders: number): string {
  const totalBuilders = builders + 1;
  const startTime = `'2025-01-06T00:00:00Z'::timestamptz`;
  // Id of the k-th of the `perBuilder` rows of builder `b`, counted from 0.
  const toBuilderRowId = (prefix: string, perBuilder: number, k: string) =>
    toIdExpression(prefix, `b * ${perBuilder} + (${k}) % ${perBuilder} + 1`);
  const selectRowNumbers = (perBuilder: number) =>
    `(select n, (n - 1) / ${perBuilder} as b, (n - 1) % ${perBuilder} as k from generate_series(1, ${totalBuilders * perBuilder}) n) numbered`;
  return `
    insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select ${toIdExpression('wkr', 'n')}, ${startTime} + n * interval '1 minute', ${startTime} + n * interval '2 minutes', ${toIdExpression('buil', 'b + 1')},
        ${toBuilderRowId('sub', SUBCONTRACTORS_PER_BUILDER, 'k')}, 'Worker ' || n || ' Nguyễn'
      from ${selectRowNumbers(WORKERS_PER_BUILDER)};
    insert into site_access (builder_id, worker_id, project_id, granted_at, revoked_at)
      select ${toIdExpression('buil', 'b + 1')}, ${toIdExpression('wkr', 'n')}, ${toBuilderRowId('proj', PROJECTS_PER_BUILDER, 'k + step * 7')},
        ${startTime} + n * interval '1 hour', case when (k + step) % 5 = 0 then ${startTime} + n * interval '5 hours' end
      from ${selectRowNumbers(WORKERS_PER_BUILDER)} cross join generate_series(0, 2) step;
    insert into induction (id, created_at, updated_at, builder_id, project_id, worker_id, subcontractor_id, identifier, type, status)
      select ${toIdExpression('ind', 'n')}, ${startTime} + n * interval '3 minutes', ${startTime} + n * interval '4 minutes', w.builder_id,
        ${toBuilderRowId('proj', PROJECTS_PER_BUILDER, `k / ${INDUCTIONS_PER_PROJECT}`)}, w.id, w.subcontractor_id, k % ${INDUCTIONS_PER_PROJECT} + 1,
        (array['PROJECT_INDUCTION', 'COMPANY_INDUCTION'])[n % 2 + 1],
        (array['REVIEWED', 'WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED'])[n % 4 + 1]
      from ${selectRowNumbers(PROJECTS_PER_BUILDER * INDUCTIONS_PER_PROJECT)} join worker w on w.id = ${toBuilderRowId('wkr', WORKERS_PER_BUILDER, 'k * 7')};
    insert into insurance (id, created_at, updated_at, builder_id, subcontractor_id, name, type, status, expiry, url)
      select ${toIdExpression('doc', 'n')}, ${startTime} + n * interval '1 minute', ${startTime} + n * interval '2 minutes', ${toIdExpression('buil', 'b + 1')},
        ${toBuilderRowId('sub', SUBCONTRACTORS_PER_BUILDER, 'k')}, 'Policy ' || n, (array['PUBLIC_LIABILITY', 'WORK_COVER'])[n % 2 + 1],
        (array['REVIEWED', 'WAITING_REVIEW'])[n % 2 + 1], ${startTime} + k * interval '2.4 days', 'https://files.example.com/' || n
      from ${selectRowNumbers(SUBCONTRACTORS_PER_BUILDER * 2)};
    insert into contact (id, created_at, updated_at, builder_id, subcontractor_id, name, email, phone, is_primary, type)
      select ${toIdExpression('con', 'n')}, ${startTime} + n * interval '1 minute', ${startTime} + n * interval '2 minutes', ${toIdExpression('buil', 'b + 1')},
        ${toBuilderRowId('sub', SUBCONTRACTORS_PER_BUILDER, 'k / 2')}, 'Contact ' || n, 'contact' || n || '@example.com', '+61 2 5550 ' || n, k % 2 = 0,
        'SUBCONTRACTOR'
      from ${selectRowNumbers(SUBCONTRACTORS_PER_BUILDER * 2)};
    insert into photo (id, created_at, updated_at, builder_id, project_id, source, file_name, content_type, key, file_size,
        description, photo_taken_date, sort_date, metadata)
      select ${toIdExpression('att', 'n')}, ${startTime} + n * interval '95 seconds', ${startTime} + n * interval '99 seconds', ${toIdExpression('buil', 'b + 1')},
        case when k % 9 > 0 then ${toBuilderRowId('proj', PROJECTS_PER_BUILDER, 'k')} end, case when k % 10 > 0 then 'GALLERY' else 'SITE_DIARY' end,
        'IMG ' || n || '.jpg', 'image/jpeg', 'photos/' || ${toIdExpression('buil', 'b + 1')} || '/' || md5('photo' || n) || '0123.jpg',
        2000000 + n * 7 % 500000, case when k % 3 = 0 then 'Façade, level ' || k % 12 end,
        case when k % 2 = 0 then ${startTime} + n * interval '90 seconds' end, ${startTime} + n * interval '90 seconds',
        case when k % 2 = 0 then jsonb_build_object('sourceApp', 'walker', 'externalSourceId', n::text) else '{}' end
      from ${selectRowNumbers(PHOTOS_PER_BUILDER)};`;
}

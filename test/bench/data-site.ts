/** Of each builder. */
export const PROJECTS = 25;
export const SUBCONTRACTORS = 75;
const WORKERS = 500;
const INDUCTIONS = 60;
const PHOTOS = 2_000;

/**
 * Identifier of the row of that number: as long as a real one, in the order of the numbers. The random part is a digest, so
 * that the data are the same each time.
 */
export const id = (prefix: string, number: string) =>
  `'${prefix}_a0mkq' || lpad((${number})::text, 8, '0') || substr(md5('${prefix}' || (${number})), 1, 12)`;

/** Of each builder, beside the timesheets: photos, and what the dashboards show. */
export function siteStatements(builders: number): string {
  const all = builders + 1;
  const begin = `'2025-01-06T00:00:00Z'::timestamptz`;
  // Of the builder of number `b`, from 0, the k-th of so many.
  const of = (prefix: string, perBuilder: number, k: string) =>
    id(prefix, `b * ${perBuilder} + (${k}) % ${perBuilder} + 1`);
  const numbered = (perBuilder: number) =>
    `(select n, (n - 1) / ${perBuilder} as b, (n - 1) % ${perBuilder} as k from generate_series(1, ${all * perBuilder}) n) numbered`;
  return `
    insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select ${id('wkr', 'n')}, ${begin} + n * interval '1 minute', ${begin} + n * interval '2 minutes', ${id('buil', 'b + 1')},
        ${of('sub', SUBCONTRACTORS, 'k')}, 'Worker ' || n || ' Nguyễn'
      from ${numbered(WORKERS)};
    insert into site_access (builder_id, worker_id, project_id, granted_at, revoked_at)
      select ${id('buil', 'b + 1')}, ${id('wkr', 'n')}, ${of('proj', PROJECTS, 'k + step * 7')},
        ${begin} + n * interval '1 hour', case when (k + step) % 5 = 0 then ${begin} + n * interval '5 hours' end
      from ${numbered(WORKERS)} cross join generate_series(0, 2) step;
    insert into induction (id, created_at, updated_at, builder_id, project_id, worker_id, subcontractor_id, identifier, type, status)
      select ${id('ind', 'n')}, ${begin} + n * interval '3 minutes', ${begin} + n * interval '4 minutes', w.builder_id,
        ${of('proj', PROJECTS, `k / ${INDUCTIONS}`)}, w.id, w.subcontractor_id, k % ${INDUCTIONS} + 1,
        (array['PROJECT_INDUCTION', 'COMPANY_INDUCTION'])[n % 2 + 1],
        (array['REVIEWED', 'WAITING_REVIEW', 'REVIEWED', 'CHANGES_REQUESTED'])[n % 4 + 1]
      from ${numbered(PROJECTS * INDUCTIONS)} join worker w on w.id = ${of('wkr', WORKERS, 'k * 7')};
    insert into insurance (id, created_at, updated_at, builder_id, subcontractor_id, name, type, status, expiry, url)
      select ${id('doc', 'n')}, ${begin} + n * interval '1 minute', ${begin} + n * interval '2 minutes', ${id('buil', 'b + 1')},
        ${of('sub', SUBCONTRACTORS, 'k')}, 'Policy ' || n, (array['PUBLIC_LIABILITY', 'WORK_COVER'])[n % 2 + 1],
        (array['REVIEWED', 'WAITING_REVIEW'])[n % 2 + 1], ${begin} + k * interval '2.4 days', 'https://files.example.com/' || n
      from ${numbered(SUBCONTRACTORS * 2)};
    insert into contact (id, created_at, updated_at, builder_id, subcontractor_id, name, email, phone, is_primary, type)
      select ${id('con', 'n')}, ${begin} + n * interval '1 minute', ${begin} + n * interval '2 minutes', ${id('buil', 'b + 1')},
        ${of('sub', SUBCONTRACTORS, 'k / 2')}, 'Contact ' || n, 'contact' || n || '@example.com', '+61 2 5550 ' || n, k % 2 = 0,
        'SUBCONTRACTOR'
      from ${numbered(SUBCONTRACTORS * 2)};
    insert into photo (id, created_at, updated_at, builder_id, project_id, source, file_name, content_type, key, file_size,
        description, photo_taken_date, sort_date, metadata)
      select ${id('att', 'n')}, ${begin} + n * interval '95 seconds', ${begin} + n * interval '99 seconds', ${id('buil', 'b + 1')},
        case when k % 9 > 0 then ${of('proj', PROJECTS, 'k')} end, case when k % 10 > 0 then 'GALLERY' else 'SITE_DIARY' end,
        'IMG ' || n || '.jpg', 'image/jpeg', 'photos/' || ${id('buil', 'b + 1')} || '/' || md5('photo' || n) || '0123.jpg',
        2000000 + n * 7 % 500000, case when k % 3 = 0 then 'Façade, level ' || k % 12 end,
        case when k % 2 = 0 then ${begin} + n * interval '90 seconds' end, ${begin} + n * interval '90 seconds',
        case when k % 2 = 0 then jsonb_build_object('sourceApp', 'walker', 'externalSourceId', n::text) else '{}' end
      from ${numbered(PHOTOS)};`;
}

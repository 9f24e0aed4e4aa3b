import type { GrowthData } from './growth-data.ts';

export interface ListCase {
  name: string;
  /** With a limit that both sizes fill where they have enough rows. */
  path: string;
  /** Length of the range of dates. */
  range?: 'week' | 'year';
  /** Whether no total of the combination is stored. */
  isCounted?: boolean;
}

const WEEK = 'startDate=2026-03-02&endDate=2026-03-08';
const YEAR = 'startDate=2025-03-01&endDate=2026-03-01';
const ZONE = 'timeZone=America/Toronto';
/** A range that begins and ends within a day. */
const YEAR_BY_HOUR = 'startDate=2025-03-01T07:00:00Z&endDate=2026-03-01T15:30:00Z';

/** Returns every list of v1 that may become large, with every combination of its filters. */
export function createListCases({ builders, folderId }: GrowthData): ListCase[] {
  const { id, projectIds, subcontractorIds } = builders[0]!;
  const [projectId, subcontractorId] = [projectIds[0]!, subcontractorIds[0]!];
  const projectFilter = `projectId=${projectId}`;
  const toListCases = (path: string, limits: [query: string, limit: number][], isCounted = false): ListCase[] =>
    limits.map(([query, limit]) => {
      const filters = query
        .replace(WEEK, 'a week')
        .replace(YEAR, 'a year')
        .replace(YEAR_BY_HOUR, 'a year by the hour')
        .replace(ZONE, 'in a time zone')
        .replace('order=desc', 'newest first')
        .replace(/=\w+_\w+/g, '')
        .replaceAll('&', ', ');
      const name = `GET ${path.replace(/^\/builders\/\w+/, '…').replace(/\w+_\w+/, '{id}')}${filters ? `: ${filters}` : ''}`;
      const range = query.includes(WEEK) ? 'week' : query.includes('startDate') ? 'year' : undefined;
      return { name, path: `${path}?${query}${query ? '&' : ''}limit=${limit}`, range, isCounted };
    });
  const toDatedListCases = (path: string, status: string): ListCase[] => [
    ...toListCases(path, [
      ['', 25],
      [projectFilter, 15],
      [`status=${status}`, 25],
      [`status=${status}&${projectFilter}`, 2],
    ]),
    ...toListCases(path, [
      ['order=desc', 25],
      [`order=desc&status=${status}`, 25],
      [`order=desc&${WEEK}`, 1],
      [`${WEEK}&${ZONE}`, 1],
      [`order=desc&${WEEK}&${ZONE}`, 1],
      [`${YEAR}&${ZONE}`, 5],
    ]),
    ...[WEEK, YEAR, YEAR_BY_HOUR].flatMap((range) => {
      const limit = range === WEEK ? 1 : 5;
      return toListCases(path, [
        ...([
          [range, limit],
          [`${range}&${projectFilter}`, limit],
        ] as [string, number][]),
        ...([
          [`${range}&status=${status}`, limit],
          [`${range}&status=${status}&${projectFilter}`, 1],
        ] as [string, number][]),
      ]);
    }),
  ];
  const photos = `/builders/${id}/photos`;
  const folderFilter = `folderId=${folderId}`;
  return [
    ...toDatedListCases('/timesheets', 'REJECTED'),
    ...toListCases(photos, [
      ['', 25],
      [projectFilter, 5],
      ['source=SITE_DIARY', 25],
      [`source=SITE_DIARY&${projectFilter}`, 1],
    ]),
    ...toListCases(photos, [
      ['source=ITP', 1],
      ['source=SITE_DIARY&source=GALLERY', 25],
    ]),
    ...toListCases(photos, [
      [folderFilter, 5],
      [`${folderFilter}&source=SITE_DIARY`, 1],
    ]),
    ...toDatedListCases(`/builders/${id}/meetings`, 'RUNNING'),
    ...toListCases(`/builders/${id}/meetings`, [
      ['status=RUNNING&status=DRAFT', 25],
      ['status=DISTRIBUTED', 1],
    ]),
    ...toListCases(`/builders/${id}/defects`, [
      ['', 25],
      [projectFilter, 15],
      ['status=CLOSED', 25],
      [`status=CLOSED&${projectFilter}`, 2],
      ['status=IN_PROGRESS', 1],
    ]),
    ...toListCases(`/subcontractors/${subcontractorId}/inductions`, [
      ['', 5],
      ['status=WAITING_REVIEW', 1],
    ]),
    ...toListCases(`/builders/${id}/projects/${projectId}/inductions`, [
      ['', 15],
      ['status=WAITING_REVIEW', 4],
    ]),
    ...toListCases('/subcontractors', [
      ['', 25],
      ['includeBuilderCompany=true', 25],
    ]),
    ...toListCases(photos, [[`${folderFilter}&${projectFilter}`, 1]], true),
    ...toListCases(
      `/subcontractors/${subcontractorId}/inductions`,
      [
        [projectFilter, 1],
        [`status=WAITING_REVIEW&${projectFilter}`, 1],
      ],
      true,
    ),
    ...toListCases('/subcontractors', [[projectFilter, 5]], true),
    ...toListCases(
      `/builders/${id}/photo-folders`,
      [
        ['', 1],
        [projectFilter, 1],
      ],
      true,
    ),
  ];
}

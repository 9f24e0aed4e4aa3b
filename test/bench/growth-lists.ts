import { GOAL } from './growth-cases.ts';
import type { GrowthData } from './growth-data.ts';

interface ListCase {
  name: string;
  /** With a limit that both sizes fill, where they have the rows. */
  path: string;
  /** Absent where no total is kept: see docs/performance.md. */
  goal?: number;
}

const WEEK = 'startDate=2026-03-02&endDate=2026-03-08';
const YEAR = 'startDate=2025-03-01&endDate=2026-03-01';
/** Begins and ends within a day. */
const HOURS = 'startDate=2025-03-01T07:00:00Z&endDate=2026-03-01T15:30:00Z';

/** Every list of v1 that may become large, with every combination of its filters. */
export function listCases({ builders, folderId }: GrowthData): ListCase[] {
  const { id, projectIds, subcontractorIds } = builders[0]!;
  const [projectId, subcontractorId] = [projectIds[0]!, subcontractorIds[0]!];
  const project = `projectId=${projectId}`;
  const of = (path: string, limits: [query: string, limit: number][], goal?: number): ListCase[] =>
    limits.map(([query, limit]) => {
      const filters = query
        .replace(WEEK, 'a week')
        .replace(YEAR, 'a year')
        .replace(HOURS, 'a year by the hour')
        .replace(/=\w+_\w+/g, '')
        .replaceAll('&', ', ');
      const name = `GET ${path.replace(/^\/builders\/\w+/, '…').replace(/\w+_\w+/, '{id}')}${filters ? `: ${filters}` : ''}`;
      return { name, path: `${path}?${query}${query ? '&' : ''}limit=${limit}`, goal };
    });
  const dated = (path: string, status: string): ListCase[] => [
    ...of(
      path,
      [
        ['', 25],
        [project, 15],
        [`status=${status}`, 25],
        [`status=${status}&${project}`, 2],
      ],
      GOAL,
    ),
    ...[WEEK, YEAR, HOURS].flatMap((range) => {
      const limit = range === WEEK ? 1 : 5;
      return of(
        path,
        [
          ...([
            [range, limit],
            [`${range}&${project}`, limit],
          ] as [string, number][]),
          ...([
            [`${range}&status=${status}`, limit],
            [`${range}&status=${status}&${project}`, 1],
          ] as [string, number][]),
        ],
        GOAL,
      );
    }),
  ];
  const photos = `/builders/${id}/photos`;
  const folder = `folderId=${folderId}`;
  return [
    ...dated('/timesheets', 'REJECTED'),
    ...of(
      photos,
      [
        ['', 25],
        [project, 5],
        ['source=SITE_DIARY', 25],
        [`source=SITE_DIARY&${project}`, 1],
      ],
      GOAL,
    ),
    ...of(
      photos,
      [
        ['source=ITP', 1],
        ['source=SITE_DIARY&source=GALLERY', 25],
      ],
      GOAL,
    ),
    ...of(
      photos,
      [
        [folder, 5],
        [`${folder}&source=SITE_DIARY`, 1],
      ],
      GOAL,
    ),
    ...dated(`/builders/${id}/meetings`, 'RUNNING'),
    ...of(
      `/builders/${id}/meetings`,
      [
        ['status=RUNNING&status=DRAFT', 25],
        ['status=DISTRIBUTED', 1],
      ],
      GOAL,
    ),
    ...of(
      `/builders/${id}/defects`,
      [
        ['', 25],
        [project, 15],
        ['status=CLOSED', 25],
        [`status=CLOSED&${project}`, 2],
        ['status=IN_PROGRESS', 1],
      ],
      GOAL,
    ),
    ...of(
      `/subcontractors/${subcontractorId}/inductions`,
      [
        ['', 5],
        ['status=WAITING_REVIEW', 1],
      ],
      GOAL,
    ),
    ...of(
      `/builders/${id}/projects/${projectId}/inductions`,
      [
        ['', 15],
        ['status=WAITING_REVIEW', 4],
      ],
      GOAL,
    ),
    ...of(
      '/subcontractors',
      [
        ['', 25],
        ['includeBuilderCompany=true', 25],
      ],
      GOAL,
    ),
    ...of(photos, [[`${folder}&${project}`, 1]]),
    ...of(`/subcontractors/${subcontractorId}/inductions`, [
      [project, 1],
      [`status=WAITING_REVIEW&${project}`, 1],
    ]),
    ...of('/subcontractors', [[project, 5]]),
    ...of(`/builders/${id}/photo-folders`, [
      ['', 1],
      [project, 1],
    ]),
  ];
}

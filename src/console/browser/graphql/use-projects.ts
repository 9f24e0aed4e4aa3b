import { useFilters } from '../shared/filters.ts';
import { getStatus } from './errors.ts';
import { OneProjectDocument, ProjectChoiceDocument, type ProjectChoiceQuery } from './generated.ts';
import { type Request, useRequest } from './use-request.ts';

export type ProjectChoice = ProjectChoiceQuery['projectsInProgress'][number];

/** Returns the builder's projects in progress by creation, and that of the URL if there is such a project. */
export function useProjects(builderId: string): Request<ProjectChoice[]> {
  const projectId = useFilters().get('project');
  const list = useRequest(ProjectChoiceDocument, { builderId });
  const listed = list.data?.projectsInProgress;
  const isListed = !projectId || !listed || listed.some(({ id }) => id === projectId);
  const one = useRequest(OneProjectDocument, { builderId, projectId: projectId ?? '' }, { pause: isListed });
  if (isListed) return { ...list, data: listed };
  if (one.data?.project.id === projectId) return { ...one, data: [...listed, one.data.project] };
  const isUnknown = one.error && [400, 404].includes(getStatus(one.error) ?? 0);
  return { ...one, data: isUnknown ? listed : undefined };
}

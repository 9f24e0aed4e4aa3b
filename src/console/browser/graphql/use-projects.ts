import { ProjectChoiceDocument } from './generated.ts';
import { type Request, useRequest } from './use-request.ts';

interface ProjectChoice {
  id: string;
  name: string;
}

/** Returns the builder's projects in progress: the first hundred, by creation. */
export function useProjects(builderId: string): Request<ProjectChoice[]> {
  const { data, ...request } = useRequest(ProjectChoiceDocument, { builderId });
  return { ...request, data: data && [data.first, data.second, data.third, data.fourth].flatMap((page) => page.data) };
}

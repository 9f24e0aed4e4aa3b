import type { ReactNode } from 'react';
import { type ProjectChoice, useProjects } from '../graphql/use-projects.ts';
import { useFilters } from '../shared/filters.ts';
import { useBuilder } from '../shared/scope.tsx';
import { Empty, Loaded } from './states.tsx';

interface Props {
  children: (project: ProjectChoice, projects: readonly ProjectChoice[]) => ReactNode;
}

/** Shows the project of the address, else the first in progress, and says so where there is none. */
export function ChosenProject({ children }: Props) {
  const { id: builderId } = useBuilder();
  const wanted = useFilters().get('project');
  const projects = useProjects(builderId);
  return (
    <Loaded request={projects}>
      {(data) => {
        const project = wanted ? data.find(({ id }) => id === wanted) : data[0];
        if (project) return children(project, data);
        if (!wanted) return <Empty title="No project is in progress" />;
        return <Empty title="There is no such project">This builder does not have the project of the address.</Empty>;
      }}
    </Loaded>
  );
}

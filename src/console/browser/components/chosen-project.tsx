import type { ReactNode } from 'react';
import { type ProjectChoice, useProjects } from '../graphql/use-projects.ts';
import { useFilters } from '../shared/filters.ts';
import { useBuilder } from '../shared/scope.tsx';
import { EmptyPage } from './page.tsx';
import { Loaded } from './states.tsx';

interface Props {
  /** Heading of the page where there is no project. */
  title: string;
  children: (project: ProjectChoice) => ReactNode;
}

/** Renders its children for the project in the URL, else for the first in progress; a message where there is none. */
export function ChosenProject({ title, children }: Props) {
  const { id: builderId } = useBuilder();
  const projectId = useFilters().get('project');
  const projects = useProjects(builderId);
  return (
    <Loaded request={projects}>
      {(data) => {
        const project = projectId ? data.find(({ id }) => id === projectId) : data[0];
        if (project) return children(project);
        if (!projectId) return <EmptyPage heading={title} title="No project is in progress" />;
        return (
          <EmptyPage heading={title} title="There is no such project">
            This builder does not have the project of the address.
          </EmptyPage>
        );
      }}
    </Loaded>
  );
}

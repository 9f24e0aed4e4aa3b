import type { ProjectChoice } from '../graphql/use-projects.ts';
import { SelectFilter } from './select-filter.tsx';

interface Props {
  /** Absent while they are loaded. */
  projects?: readonly ProjectChoice[];
  /** Project that applies without a choice, where all is none. */
  fallback?: string;
}

/** A choice of a project by its name, which the address holds. */
export function ProjectFilter({ projects = [], fallback }: Props) {
  const byName = [...projects].sort((one, other) => one.name.localeCompare(other.name));
  const options = byName.map(({ id, name }) => [id, name] as const);
  return <SelectFilter name="project" label="Project" options={options} fallback={fallback} />;
}

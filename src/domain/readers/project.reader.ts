import { Project } from '../../../entities/project.entity.ts';
import { equal, searchOf } from '../../database/read/filter.ts';
import { Reader } from '../../database/read/reader.ts';

export const projects = new Reader(Project, {
  filters: {
    ...equal('builderId', 'status'),
    search: searchOf('t.name'),
    /** No rows if the subcontractor is archived. As an array, for which the planner uses index lookups. */
    subcontractorId: {
      sql: `t.id = any(array(select link.project_id from subcontractor_project link
          where link.subcontractor_id = :subcontractorId))
        and t.builder_id = (select s.builder_id from subcontractor s where s.id = :subcontractorId and s.archived_at is null)`,
    },
  },
});

import { Project } from '../../../entities/project.entity.ts';
import { Reader } from '../../database/read/reader.ts';

export const projects = new Reader(Project, {
  filters: {
    builderId: 't.builder_id = :builderId',
    status: 't.status = :status',
    /** None once the subcontractor is archived. An array, so that the planner looks up each of its few projects. */
    subcontractorId: `t.id = any(array(select link.project_id from subcontractor_project link
        where link.subcontractor_id = :subcontractorId))
      and t.builder_id = (select s.builder_id from subcontractor s where s.id = :subcontractorId and s.archived_at is null)`,
  },
});

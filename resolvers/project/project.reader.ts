import { Project } from '../../entities/project.entity.ts';
import { Reader } from '../../src/database/reader.ts';

export const projects = new Reader(Project, {
  filters: {
    builderId: 't.builder_id = :builderId',
    status: 't.status = :status',
    subcontractorId: `exists (select from subcontractor_project link join subcontractor s on s.id = link.subcontractor_id
      where link.project_id = t.id and link.subcontractor_id = :subcontractorId and s.builder_id = t.builder_id
        and s.archived_at is null)`,
  },
});

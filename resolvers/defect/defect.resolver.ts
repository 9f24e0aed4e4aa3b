import { Builder } from '../../entities/builder.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { DefectCompany } from '../../entities/defect-assignee.type.ts';
import { Project } from '../../entities/project.entity.ts';
import { DefectStatus } from '../../schema/enums.ts';
import { Rest } from '../../schema/rest.ts';
import { DefectId, ProjectId } from '../../schema/scalars.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { defects } from '../../src/domain/readers/defect.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { builderPage, builderRecord, pageEdge, recordEdge } from '../fields.ts';

const args = [{ status: DefectStatus }];

export const defectFields = [
  builderPage('defects', defects, 'The defects of a builder.', {
    operation: Rest('GET /builders/{builderId}/defects', { scope: 'read:defects', tag: 'Defects' }),
    args: [{ projectId: ProjectId, status: DefectStatus }],
  }),
  builderRecord('defect', defects, { defectId: DefectId }, ['Defect', 'One defect.'], {
    operation: Rest('GET /builders/{builderId}/defects/{defectId}', { scope: 'read:defects', tag: 'Defects' }),
  }),
  recordEdge(Defect, 'builder', builders, 'builderId', 'The builder that the defect belongs to.'),
  recordEdge(Defect, 'project', projects, 'projectId', 'The project that the defect is on.'),
  recordEdge(
    DefectCompany,
    'details',
    subcontractors,
    'id',
    'The whole subcontractor; null when it is archived or not in our records.',
    { nullable: true },
  ),
  pageEdge(Builder, 'defects', defects, 'builderId', 'The defects of the builder.', { args }),
  pageEdge(Project, 'defects', defects, 'projectId', 'The defects of the project.', { args }),
];

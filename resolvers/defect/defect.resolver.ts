import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { DefectCompany } from '../../entities/defect-assignee.type.ts';
import { Project } from '../../entities/project.entity.ts';
import { DefectStatus } from '../../schema/enums.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, DefectId, ProjectId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { defects } from '../../src/domain/readers/defect.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { requireFound } from '../../src/domain/require-found.ts';
import { pageEdge, recordEdge } from '../edges.ts';

const DefectPage = createPageType(Defect);

@Resolver(() => Defect)
export class DefectResolver {
  @Query(() => DefectPage, { description: 'The defects of a builder.' })
  @Rest('GET /builders/{builderId}/defects', { scope: 'read:defects', tag: 'Defects' })
  defects(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId, { nullable: true }) projectId: string | null,
    @Arg('status', () => DefectStatus, { nullable: true }) status: DefectStatus | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<Defect>> {
    return defects.select(selection).findPage(database, { builderId, projectId, status }, page);
  }

  @Query(() => Defect, { description: 'One defect.' })
  @Rest('GET /builders/{builderId}/defects/{defectId}', { scope: 'read:defects', tag: 'Defects' })
  defect(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('defectId', () => DefectId) defectId: string,
    @Ctx() { database }: RequestContext,
  ): Promise<Defect> {
    return requireFound(defects.findOne(database, defectId, { builderId }), 'Defect');
  }
}

const args = [{ status: DefectStatus }];

export const defectEdges = [
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

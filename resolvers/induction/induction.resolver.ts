import { Arg, Args, Ctx, Query, Resolver } from 'type-graphql';
import { Induction, InductionDetails } from '../../entities/induction.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { InductionStatus } from '../../schema/enums.ts';
import { isId } from '../../schema/ids.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { Rest, Scoped } from '../../schema/rest.ts';
import { BuilderId, InductionKey, ProjectId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { inductionDetails, inductions } from '../../src/domain/readers/induction.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { notFound } from '../../src/shared/errors.ts';
import { builderPage, pageEdge, subcontractorPage } from '../fields.ts';

const InductionPage = createPageType(Induction);

@Resolver(() => Induction)
export class InductionResolver {
  @Query(() => InductionPage, { description: 'The inductions to a project.' })
  @Rest('GET /builders/{builderId}/projects/{projectId}/inductions', { scope: 'read:inductions', tag: 'Inductions' })
  async projectInductions(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Arg('status', () => InductionStatus, { nullable: true }) status: InductionStatus | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { database }: RequestContext,
  ): Promise<Page<Induction>> {
    const found = await inductions.select(selection).findPage(database, { projectId, status }, page);
    // Each row has the builder of the project; only an empty page needs a query of the project.
    const [first] = found.data;
    const owned = first ? first.builderId === builderId : await projects.findOne(database, projectId, { builderId });
    if (!owned) throw notFound('Project');
    return found;
  }

  @Query(() => InductionDetails, { description: "One induction to a project, with the worker's answers." })
  @Rest('GET /builders/{builderId}/projects/{projectId}/inductions/{identifierOrId}', {
    scope: 'read:inductions',
    tag: 'Inductions',
  })
  async induction(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('projectId', () => ProjectId) projectId: string,
    @Arg('identifierOrId', () => InductionKey) key: string,
    @Ctx() { database }: RequestContext,
  ): Promise<InductionDetails> {
    const which = isId('induction', key) ? { id: key } : { identifier: key };
    const [found] = await inductionDetails.findAll(database, { builderId, projectId, ...which });
    if (!found) throw notFound('Induction');
    return found;
  }
}

const args = [{ status: InductionStatus, projectId: ProjectId }];

export const inductionFields = [
  subcontractorPage('subcontractorInductions', inductions, "The inductions of a subcontractor's workers.", {
    operation: Rest('GET /subcontractors/{id}/inductions', { scope: 'read:inductions', tag: 'Inductions' }),
    args: [{ projectId: ProjectId, status: InductionStatus }],
  }),
  builderPage('inductions', inductions, "The inductions to all of a builder's projects.", {
    operation: Scoped('read:inductions'),
    args: [{ projectId: ProjectId, status: InductionStatus }],
  }),
  pageEdge(Project, 'inductions', inductions, 'projectId', 'The inductions to the project.', {
    args: [{ status: InductionStatus }],
  }),
  pageEdge(
    Subcontractor,
    'inductions',
    inductions,
    'subcontractorId',
    "The inductions of the subcontractor's workers.",
    { args },
  ),
  pageEdge(Worker, 'inductions', inductions, 'workerId', "The worker's inductions.", { args }),
];

import { Arg, Args, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Builder } from '../../entities/builder.entity.ts';
import { Defect } from '../../entities/defect.entity.ts';
import { DefectCompany } from '../../entities/defect-assignee.type.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { DefectStatus } from '../../schema/enums.ts';
import { type Page, PageArgs, PageOf, windowOf } from '../../schema/page.ts';
import { GraphOnly, Rest } from '../../schema/rest.ts';
import { BuilderId, DefectId, ProjectId } from '../../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { builders } from '../../src/domain/readers/builder.reader.ts';
import { defects } from '../../src/domain/readers/defect.reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { notFound } from '../../src/shared/errors.ts';

const DefectPage = PageOf(Defect);

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
    return defects.reading(selection).page(database, { builderId, projectId, status }, windowOf(page));
  }

  @Query(() => Defect, { description: 'One defect.' })
  @Rest('GET /builders/{builderId}/defects/{defectId}', { scope: 'read:defects', tag: 'Defects' })
  async defect(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Arg('defectId', () => DefectId) defectId: string,
    @Ctx() { database }: RequestContext,
  ): Promise<Defect> {
    const defect = await defects.one(database, defectId, { builderId });
    if (!defect) throw notFound('Defect');
    return defect;
  }

  @FieldResolver(() => Builder, { description: 'The builder whose defect it is.' })
  @GraphOnly()
  @Reads('builderId')
  builder(
    @Root() defect: Pick<Defect, 'builderId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Builder | null> {
    return loaders.one(builders.reading(selection), defect.builderId);
  }

  @FieldResolver(() => Project, { description: 'The project that the defect is on.' })
  @GraphOnly()
  @Reads('projectId')
  project(
    @Root() defect: Pick<Defect, 'projectId'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Project | null> {
    return loaders.one(projects.reading(selection), defect.projectId);
  }
}

@Resolver(() => DefectCompany)
export class DefectCompanyResolver {
  @FieldResolver(() => Subcontractor, {
    nullable: true,
    description: 'The whole subcontractor; null when it is archived or not in our records.',
  })
  @GraphOnly()
  @Reads('id')
  details(
    @Root() company: Pick<DefectCompany, 'id'>,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Subcontractor | null> {
    return loaders.one(subcontractors.reading(selection), company.id);
  }
}

@Resolver(() => Builder)
export class BuilderDefectsResolver {
  @FieldResolver(() => DefectPage, { description: 'The defects of the builder.' })
  @GraphOnly()
  @Reads('id')
  defects(
    @Root() builder: Pick<Builder, 'id'>,
    @Arg('status', () => DefectStatus, { nullable: true }) status: DefectStatus | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Defect>> {
    return loaders.page(defects.reading(selection), 'builderId', builder.id, { status }, windowOf(page));
  }
}

@Resolver(() => Project)
export class ProjectDefectsResolver {
  @FieldResolver(() => DefectPage, { description: 'The defects of the project.' })
  @GraphOnly()
  @Reads('id')
  defects(
    @Root() project: Pick<Project, 'id'>,
    @Arg('status', () => DefectStatus, { nullable: true }) status: DefectStatus | null,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() { loaders }: RequestContext,
  ): Promise<Page<Defect>> {
    return loaders.page(defects.reading(selection), 'projectId', project.id, { status }, windowOf(page));
  }
}

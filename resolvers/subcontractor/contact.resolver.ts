import { Arg, Args, ArgsType, Ctx, Field, Query, Resolver } from 'type-graphql';
import { Contact } from '../../entities/contact.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { createPageType, type Page, PageArgs } from '../../schema/page.ts';
import { Rest } from '../../schema/rest.ts';
import { ProjectId, SubcontractorId } from '../../schema/scalars.ts';
import { Selected, type Selection } from '../../schema/selection.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { contacts } from '../../src/domain/readers/contact.reader.ts';
import { pageEdge } from '../edges.ts';
import { authorizeSubcontractorPage } from './subcontractor-authorization.ts';

const ContactPage = createPageType(Contact);

@ArgsType()
class ContactArgs {
  @Field(() => ProjectId, { nullable: true, description: 'Only contacts that are responsible for the project.' })
  projectId?: string | null;

  @Field(() => Boolean, { nullable: true })
  isPrimary?: boolean | null;
}

@Resolver(() => Contact)
export class ContactResolver {
  @Query(() => ContactPage, { description: 'The contacts of a subcontractor.' })
  @Rest('GET /subcontractors/{id}/contacts', { scope: 'read:contacts', tag: 'Subcontractors' })
  async subcontractorContacts(
    @Arg('id', () => SubcontractorId) id: string,
    @Args() { projectId, isPrimary }: ContactArgs,
    @Args() page: PageArgs,
    @Selected() selection: Selection | null,
    @Ctx() context: RequestContext,
  ): Promise<Page<Contact>> {
    const where = { subcontractorId: id, projectId, isPrimary };
    const found = await contacts.select(selection).findPage(context.database, where, page);
    return authorizeSubcontractorPage(context, id, 'read:contacts', found);
  }
}

export const contactEdges = [
  pageEdge(Subcontractor, 'contacts', contacts, 'subcontractorId', 'The contacts of the subcontractor.', {
    args: [ContactArgs],
  }),
];

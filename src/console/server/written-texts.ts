import type { ApolloServerPlugin } from '@apollo/server';
import { type FieldNode, type GraphQLSchema, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import { isStaffActionAllowed } from '../../domain/access/staff-roles.ts';
import { isIncluded, withDefaults } from '../../graphql/engine/root-fields.ts';
import { toGraphqlError } from '../../graphql/server/errors.ts';
import { forbidden } from '../../shared/errors.ts';
import type { ConsoleContext } from './console-area.ts';

/** Texts of more than a title, in which people write about others: notes, agendas, descriptions, comments and reasons. */
const WRITTEN_TEXTS = new Set([
  'Client.pilotAgreement',
  'Defect.description',
  'Meeting.agenda',
  'Meeting.notes',
  'MeetingActionItem.text',
  'MeetingNote.detailBlocks',
  'MeetingNote.summaryMarkdown',
  'Photo.description',
  'Photo.metadata',
  'Prequalification.reviewComments',
  'ReportChildPage.properties',
  'ReportHeading.properties',
  'ReportImage.properties',
  'ReportImageFailure.message',
  'ReportList.properties',
  'ReportPage.contentMetadata',
  'ReportPage.sharingMetadata',
  'ReportPage.shortDescription',
  'ReportText.properties',
  'RichTextRun.text',
  'SignOnVisit.closedBy',
  'SignOnVisit.closingReason',
  'Timesheet.notes',
]);

/** Rejects operations that read texts which people wrote, for a role that may not read personal data. CON-5. */
export const rejectWrittenTexts = (schema: GraphQLSchema): ApolloServerPlugin<RequestContext> => ({
  requestDidStart: async () => ({
    async didResolveOperation({ document, operation, request, contextValue }) {
      const { role } = (contextValue as ConsoleContext).staff;
      if (!operation || isStaffActionAllowed(role, 'person.read')) return;
      const variables = withDefaults(operation, request.variables ?? {});
      const types = new TypeInfo(schema);
      const Field = (node: FieldNode) => {
        if (!isIncluded(node.directives, variables)) return false;
        const name = `${types.getParentType()}.${node.name.value}`;
        if (WRITTEN_TEXTS.has(name))
          throw toGraphqlError(forbidden(`The role ${role} does not allow person.read, which ${name} needs.`));
        return undefined;
      };
      visit(document, visitWithTypeInfo(types, { Field }));
    },
  }),
});

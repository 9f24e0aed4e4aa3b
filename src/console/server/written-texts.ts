import type { ApolloServerPlugin } from '@apollo/server';
import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { RequestContext } from '../../auth/request-context.ts';
import { isStaffActionAllowed } from '../../domain/access/staff-roles.ts';
import { toGraphqlError } from '../../graphql/server/errors.ts';
import { forbidden } from '../../shared/errors.ts';
import type { ConsoleContext } from './console-area.ts';

/** Texts of more than a title, in which people write about others: notes, agendas, descriptions, comments and reasons. */
const WRITTEN_TEXTS = new Set([
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
export const hideWrittenTexts = (schema: GraphQLSchema): ApolloServerPlugin<RequestContext> => ({
  requestDidStart: async () => ({
    async didResolveOperation({ document, request: { variables }, contextValue }) {
      const { role } = (contextValue as ConsoleContext).staff;
      if (isStaffActionAllowed(role, 'person.read')) return;
      const isExcluded = (node: FieldNode) =>
        getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
        getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false;
      const types = new TypeInfo(schema);
      const Field = (node: FieldNode) => {
        if (isExcluded(node)) return false;
        const name = `${types.getParentType()}.${node.name.value}`;
        if (WRITTEN_TEXTS.has(name)) {
          throw toGraphqlError(forbidden(`The role ${role} does not allow person.read, which ${name} needs.`));
        }
        return undefined;
      };
      visit(document, visitWithTypeInfo(types, { Field }));
    },
  }),
});

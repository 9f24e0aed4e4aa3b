import type { GraphQLSchema } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../support/console.ts';
import { consoleSchema, schema as integratorSchema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { createSamples, type Samples } from '../support/samples.ts';
import { createSingleFieldDocuments, findServiceErrors } from '../support/single-fields.ts';

const service = useService();
let admin: ConsoleBrowser;
let viewer: ConsoleBrowser;
let samples: Samples;
let ids: Record<string, string>;

beforeAll(async () => {
  admin = await signInToConsole(service.app, await addStaff(service, 'ADMIN'));
  viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
  const database = service.databases.au1;
  samples = await createSamples(database, service.findDemoClient('A').builderIds[0]!);
  // Authors, and answers, that are no known people.
  await database.fork().execute('update photo_report set mapped_admin_user_id = null');
  const { clientId } = service.findDemoClient('A');
  const [client] = await database
    .fork()
    .execute<{ integrator_id: string }[]>('select integrator_id from oauth_client where id = ?', [clientId]);
  const user = service.findDemoUser(({ regionId }) => regionId === 'au1').id;
  ids = { clientId, integratorId: client!.integrator_id, user, from: '2026-03-02', until: '2026-03-08' };
});

const DATES: Record<string, string> = { RangeStart: '2026-03-02', RangeEnd: '2026-03-08', CalendarDate: '2026-03-02' };
const listDocuments = (schema: GraphQLSchema) =>
  createSingleFieldDocuments(schema, (argument, scalar) => samples[scalar] ?? DATES[scalar] ?? ids[argument]);

describe('a field that is selected alone', () => {
  it('is never an error of the service, in the console', async () => {
    const documents = listDocuments(consoleSchema);
    expect(await findServiceErrors(documents, async (query) => (await admin.query(query)).errors ?? [])).toEqual([]);
    expect(documents.map(({ name }) => name)).toContain('photoReports.data.sourceAuthor');
  });

  it('is never an error of the service, for integrators', async () => {
    const token = await service.tokenOf('A');
    const documents = listDocuments(integratorSchema);
    const send = async (query: string) => (await service.graphql(token, query)).errors ?? [];
    expect(await findServiceErrors(documents, send)).toEqual([]);
  });

  it.each([undefined, { skipped: true }, { skipped: false }, { skipped: null }])(
    'is excluded for a viewer by the value of a variable, or its default: %j',
    async (variables) => {
      const read = (text: string, fallback: boolean) =>
        viewer.query(`query ($skipped: Boolean = ${fallback}) { me { id } ${text} }`, variables);
      const notes = 'timesheets(builderId: "buil_a1") { data { id notes @skip(if: $skipped) } }';
      for (const fallback of [true, false]) {
        const { status, errors } = await read('me { name @skip(if: $skipped) }', fallback);
        expect(status, JSON.stringify(errors)).toBeLessThan(500);
      }
      const { status } = await read(notes, true);
      expect(status).toBeLessThan(500);
    },
  );

  it('is no text that people wrote where a viewer reads it, but a title or name (CON-5)', async () => {
    const isText = ({ type }: { type: unknown }) => /^\[?(String|JsonObject)\b/.test(String(type));
    const integratorTypes = integratorSchema.getTypeMap();
    const texts = listDocuments(consoleSchema).filter(
      ({ type, field }) => type.name in integratorTypes && isText(field),
    );
    const visible = new Set<string>();
    for (const { type, field, selection } of texts) {
      const name = `${type.name}.${field.name}`;
      if (visible.has(name)) continue;
      const { errors } = await viewer.query(`{ ${selection} }`);
      if (!errors) visible.add(name);
    }
    expect([...visible].sort()).toMatchInlineSnapshot(`
      [
        "Address.country",
        "Address.postcode",
        "Address.state",
        "Address.street",
        "Address.suburb",
        "Builder.logoUrl",
        "Builder.name",
        "CostCode.code",
        "CostCode.description",
        "Defect.title",
        "Insurance.customType",
        "Insurance.name",
        "Insurance.url",
        "Integration.companyId",
        "Integration.sourceId",
        "Integration.type",
        "Location.name",
        "LoggedFieldError.fieldName",
        "LoggedFieldError.message",
        "LoggedRequest.clientId",
        "LoggedRequest.code",
        "LoggedRequest.graphqlOperation",
        "LoggedRequest.message",
        "LoggedRequest.method",
        "LoggedRequest.path",
        "LoggedRequest.requestId",
        "LoggedRequest.tool",
        "Meeting.meetingTitle",
        "Meeting.name",
        "Meeting.title",
        "MeetingNote.externalSourceId",
        "MeetingNote.sourceApp",
        "MeetingNote.sourceDeepLink",
        "MeetingNote.sourceWebLink",
        "MeetingNote.title",
        "MeetingTemplate.name",
        "MeetingTemplateSection.id",
        "MeetingTemplateSection.title",
        "Photo.contentType",
        "Photo.fileName",
        "Photo.fileSize",
        "Photo.imageUrl",
        "Photo.key",
        "PhotoFolder.name",
        "PhotoReport.sourceApp",
        "PhotoReport.sourceDeepLink",
        "PhotoReport.sourceExternalId",
        "PhotoReport.title",
        "Project.name",
        "ProjectSummary.name",
        "ReportChildPage.sourceBlockId",
        "ReportHeading.sourceBlockId",
        "ReportImage.sourceBlockId",
        "ReportImageFailure.code",
        "ReportList.sourceBlockId",
        "ReportListItem.id",
        "ReportPage.path",
        "ReportPage.title",
        "ReportText.sourceBlockId",
        "Subcontractor.abn",
        "Subcontractor.name",
        "Subcontractor.tags",
        "SubcontractorSummary.name",
        "SwmsDocument.name",
        "SwmsDocument.url",
        "TimeType.name",
        "Timesheet.costCode",
        "Timesheet.timeType",
        "WebhookDelivery.error",
        "WebhookDelivery.eventId",
        "WebhookDelivery.responseBody",
        "WebhookDelivery.type",
        "WebhookDeliveryPageMeta.nextCursor",
        "WebhookEndpoint.types",
        "WebhookEndpoint.url",
      ]
    `);
  });
});

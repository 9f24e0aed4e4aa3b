import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import { newId } from '../../schema/ids.ts';
import { type Service, startService } from './harness.ts';

interface MeetingState {
  notes: string | null;
  updatedAt: string;
}

const SECTIONS = [
  { id: 'safety', title: 'Safety' },
  { id: 'actions', title: 'Actions' },
];

const EDIT = `mutation ($builderId: BuilderId!, $meetingId: MeetingId!, $notes: MeetingText!, $expected: Timestamp!) {
  updateMeetingNotes(builderId: $builderId, meetingId: $meetingId, notes: $notes, expectedUpdatedAt: $expected) { notes updatedAt }
}`;

/** Two instances of a service, and meetings of integrator A's first builder. */
export class MeetingHarness {
  private constructor(
    readonly service: Service,
    readonly instances: FastifyInstance[],
    readonly token: string,
    readonly builderId: string,
  ) {}

  static async start(): Promise<MeetingHarness> {
    const service = await startService();
    const instances = [service.app, await service.startInstance()];
    return new MeetingHarness(
      service,
      instances,
      await service.tokenOf('A'),
      service.findDemoClient('A').builderIds[0]!,
    );
  }

  async post(path: string, payload: object, instance = 0, as = this.token) {
    const headers = { authorization: `Bearer ${as}` };
    const url = `/builders/${this.builderId}/meetings${path}`;
    const response = await this.instances[instance]!.inject({ method: 'POST', url, headers, payload });
    return { status: response.statusCode, body: response.json() };
  }

  syncNote(meetingId: string, note: object, instance = 0) {
    return this.post(`/${meetingId}/notes`, note, instance);
  }

  async createMeeting(notes?: string): Promise<string> {
    return (await this.post('', { title: 'Weekly', ...(notes !== undefined && { notes }) })).body.id;
  }

  async createTemplateMeeting(): Promise<string> {
    const { service, builderId } = this;
    const id = newId('meetingTemplate', service.clock.now());
    const em = service.databases.au1.fork();
    await em.insert(MeetingTemplate, { id, builderId, name: 'Site coordination', sections: SECTIONS });
    const meetingId = await this.createMeeting();
    await em.execute('update meeting set template_id = ? where id = ?', [id, meetingId]);
    return meetingId;
  }

  async readMeeting(meetingId: string): Promise<MeetingState> {
    const query = `{ meeting(builderId: "${this.builderId}", meetingId: "${meetingId}") { notes updatedAt } }`;
    return (await this.service.graphql(this.token, query)).data.meeting;
  }

  async readNotes(meetingId: string): Promise<string | null> {
    return (await this.readMeeting(meetingId)).notes;
  }

  /** Returns the list of synced notes of the meeting. */
  async listNotes(meetingId: string) {
    const response = await this.service.get(`/builders/${this.builderId}/meetings/${meetingId}/notes`, this.token);
    return response.json().data;
  }

  editNotes(meetingId: string, notes: string, expected: string, as = this.token) {
    return this.service.graphql(as, EDIT, { builderId: this.builderId, meetingId, notes, expected });
  }

  /** Reads, changes and saves the notes, again after each edit conflict, as a user would. */
  async editUntilSaved(meetingId: string, change: (notes: string) => string): Promise<MeetingState> {
    for (;;) {
      const { notes, updatedAt } = await this.readMeeting(meetingId);
      const { data, errors } = await this.editNotes(meetingId, change(notes ?? ''), updatedAt);
      if (!errors) return data.updateMeetingNotes;
      expect(errors[0]!.extensions).toEqual({ code: 'MEETING_CHANGED', http: { status: 409 } });
    }
  }
}

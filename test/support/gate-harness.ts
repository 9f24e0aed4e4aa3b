import { expect } from 'vitest';
import {
  aSignOn,
  createGateFixture,
  type EventResponse,
  type GateEvent,
  readAttendance,
  sendEvent,
} from './attendance.ts';
import { type Service, startService } from './harness.ts';

/** A service, and a gate of integrator A at the project of `gate` that sends events to it. */
export class GateHarness {
  readonly worker = createGateFixture().workers.active[0]!;
  readonly otherWorker = createGateFixture().workers.active[1]!;

  private constructor(
    readonly service: Service,
    readonly token: string,
  ) {}

  static async start(): Promise<GateHarness> {
    const service = await startService();
    return new GateHarness(service, await service.tokenOf('A'));
  }

  post(event: object, url?: string): Promise<EventResponse> {
    return sendEvent(this.service.app, this.token, event, url);
  }

  /** Begins a visit. Returns its sign-on and its id. */
  async beginVisit(workerId = this.worker): Promise<{ on: GateEvent; visitId: string }> {
    const on = aSignOn(workerId);
    const { body } = await this.post(on);
    return { on, visitId: body.data.signOnId };
  }

  async findVisit(id: string) {
    return (await readAttendance(this.service)).visits.find((visit) => visit.id === id);
  }

  /** Expects 409 with the code, the same for a repetition, and no change. */
  async expectConflict(event: GateEvent, code: string): Promise<void> {
    const { visits, events } = await readAttendance(this.service);
    for (let sent = 0; sent < 2; sent++) {
      const { status, body } = await this.post(event);
      expect([status, body.code]).toEqual([409, code]);
      expect(Object.keys(body)).toEqual(['code', 'message']);
    }
    expect(await readAttendance(this.service)).toMatchObject({ visits, events });
  }
}

/** Returns the part of a response that the decision table of the contract shows. */
export const decisionOf = ({ status, body }: EventResponse) => [status, body.data.status, body.data.duplicate];

import { expect } from 'vitest';
import { type Answer, attendanceOf, type GateEvent, gate, send, signOn } from './attendance.ts';
import { type Service, startService } from './harness.ts';

/** A service, and a gate of integrator A at the project of `gate` that sends events to it. */
export class GateBench {
  readonly worker = gate().workers.active[0]!;
  readonly colleague = gate().workers.active[1]!;

  private constructor(
    readonly service: Service,
    readonly token: string,
  ) {}

  static async start(): Promise<GateBench> {
    const service = await startService();
    return new GateBench(service, await service.as('A'));
  }

  post(event: object, url?: string): Promise<Answer> {
    return send(this.service.app, this.token, event, url);
  }

  /** A visit that has begun: its sign-on, and its id. */
  async begin(workerId = this.worker): Promise<{ on: GateEvent; visitId: string }> {
    const on = signOn(workerId);
    const { body } = await this.post(on);
    return { on, visitId: body.data.signOnId };
  }

  async visit(id: string) {
    return (await attendanceOf(this.service)).visits.find((visit) => visit.id === id);
  }

  /** Expects 409 with the code, the same for a repetition, and no change. */
  async expectConflict(event: GateEvent, code: string): Promise<void> {
    const { visits, events } = await attendanceOf(this.service);
    for (let sent = 0; sent < 2; sent++) {
      const { status, body } = await this.post(event);
      expect([status, body.code]).toEqual([409, code]);
      expect(Object.keys(body)).toEqual(['code', 'message']);
    }
    expect(await attendanceOf(this.service)).toMatchObject({ visits, events });
  }
}

/** Returns the part of a response that the decision table of the contract shows. */
export const outcome = ({ status, body }: Answer) => [status, body.data.status, body.data.duplicate];

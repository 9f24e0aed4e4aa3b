import { describe, expect, it } from 'vitest';
import type { Scope } from '../../schema/scopes.ts';
import { Caller } from '../../src/auth/caller.ts';

const READER: ReadonlySet<Scope> = new Set<Scope>(['read:photos']);
const WRITER: ReadonlySet<Scope> = new Set<Scope>(['read:photos', 'write:photos']);

const aCaller = (facts: Partial<Caller>): Caller =>
  new Caller({
    ...{ clientId: 'cli_a', clientName: 'Client', integratorId: 'intg_a', internal: false, userId: null },
    ...{ builderId: null, scopes: WRITER, connections: new Map() },
    ...facts,
  });

const integrator = aCaller({
  connections: new Map([
    ['buil_reader', READER],
    ['buil_writer', WRITER],
  ]),
});
const internal = aCaller({ integratorId: null, internal: true });

describe('the caller of an integrator', () => {
  it('is connected to the builders of its connections only', () => {
    const ids = ['buil_reader', 'buil_writer', 'buil_other'];
    expect(ids.map((id) => integrator.isConnectedTo(id))).toEqual([true, true, false]);
  });

  it('lists the builders whose connections allow the scope', () => {
    expect(integrator.listBuilderIds('read:photos')).toEqual(['buil_reader', 'buil_writer']);
    expect(integrator.listBuilderIds('write:photos')).toEqual(['buil_writer']);
  });

  it('may use a scope that the connection of the builder allows', () => {
    integrator.requireConnectionScope('buil_writer', 'write:photos');
    integrator.requireConnectionScope('buil_reader', null);
    expect(() => integrator.requireConnectionScope('buil_reader', 'write:photos')).toThrow(
      expect.objectContaining({ status: 403, code: 'INSUFFICIENT_SCOPE' }),
    );
  });

  it.each([null, 'read:photos' as const])('is 403 for a builder without a connection, with scope %s', (scope) => {
    expect(() => integrator.requireConnectionScope('buil_other', scope)).toThrow(
      expect.objectContaining({ status: 403, code: 'FORBIDDEN' }),
    );
  });

  it('needs the scope in its token', () => {
    integrator.requireScope('write:photos');
    integrator.requireScope(null);
    expect(() => integrator.requireScope('write:meetings')).toThrow(
      expect.objectContaining({ status: 403, code: 'INSUFFICIENT_SCOPE' }),
    );
  });
});

describe('an internal client', () => {
  it('may access every builder of its region, with the scopes of its token', () => {
    expect(internal.isConnectedTo('buil_any')).toBe(true);
    expect(internal.listBuilderIds('read:photos')).toBeNull();
    internal.requireConnectionScope('buil_any', 'write:meetings');
    expect(() => internal.requireScope('write:meetings')).toThrow(
      expect.objectContaining({ status: 403, code: 'INSUFFICIENT_SCOPE' }),
    );
  });
});

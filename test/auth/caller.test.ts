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

const integratorCaller = aCaller({
  connections: new Map([
    ['buil_reader', READER],
    ['buil_writer', WRITER],
  ]),
});
const internalCaller = aCaller({ integratorId: null, internal: true });

describe('the caller of an integrator', () => {
  it('is connected to the builders of its connections only', () => {
    const ids = ['buil_reader', 'buil_writer', 'buil_other'];
    expect(ids.map((id) => integratorCaller.isConnectedTo(id))).toEqual([true, true, false]);
  });

  it('lists the builders whose connections allow the scope', () => {
    expect(integratorCaller.listBuilderIds('read:photos')).toEqual(['buil_reader', 'buil_writer']);
    expect(integratorCaller.listBuilderIds('write:photos')).toEqual(['buil_writer']);
  });

  it('may use a scope that the connection of the builder allows', () => {
    integratorCaller.requireConnectionScope('buil_writer', 'write:photos');
    integratorCaller.requireConnectionScope('buil_reader', null);
    expect(() => integratorCaller.requireConnectionScope('buil_reader', 'write:photos')).toThrow(
      expect.objectContaining({ status: 403, code: 'INSUFFICIENT_SCOPE' }),
    );
  });

  it.each([null, 'read:photos' as const])('is 403 for a builder without a connection, with scope %s', (scope) => {
    expect(() => integratorCaller.requireConnectionScope('buil_other', scope)).toThrow(
      expect.objectContaining({ status: 403, code: 'FORBIDDEN' }),
    );
  });

  it('needs the scope in its token', () => {
    integratorCaller.requireScope('write:photos');
    integratorCaller.requireScope(null);
    expect(() => integratorCaller.requireScope('write:meetings')).toThrow(
      expect.objectContaining({ status: 403, code: 'INSUFFICIENT_SCOPE' }),
    );
  });
});

describe('an internal client', () => {
  it('may access every builder of its region, with the scopes of its token', () => {
    expect(internalCaller.isConnectedTo('buil_any')).toBe(true);
    expect(internalCaller.listBuilderIds('read:photos')).toBeNull();
    internalCaller.requireConnectionScope('buil_any', 'write:meetings');
    expect(() => internalCaller.requireScope('write:meetings')).toThrow(
      expect.objectContaining({ status: 403, code: 'INSUFFICIENT_SCOPE' }),
    );
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { AuthorizationContext } from '../../src/auth/authorization.ts';
import { Caller } from '../../src/auth/caller.ts';
import { OperationAuthorization } from '../../src/auth/operation-authorization.ts';

const BUILDER = 'buil_a1';
const OTHER_BUILDER = 'buil_a2';
const SYNC = { field: 'syncPhotoReport', scope: 'write:photos', budget: 'sync' } as const;
const UPDATE = { ...SYNC, field: 'updatePhotoReport' };

const scopes = new Set(['write:photos']);
const caller = new Caller({
  clientId: 'cli_a1',
  clientName: 'Client',
  integratorId: 'intg_a1',
  internal: false,
  userId: null,
  builderId: null,
  scopes,
  connections: new Map([
    [BUILDER, scopes],
    [OTHER_BUILDER, scopes],
  ]),
});

let charges: number;
let authorization: OperationAuthorization;

beforeEach(() => {
  charges = 0;
  const context = {
    caller,
    builderHeader: null,
    loaders: { reserveRecords: () => undefined },
  } as unknown as AuthorizationContext;
  authorization = new OperationAuthorization(context, async () => {
    charges++;
  });
});

describe('an operation that was authorized before the body', () => {
  beforeEach(() => authorization.authorizeBeforeBody(SYNC, BUILDER));

  it('is not authorized and charged again by its resolver', () => {
    expect(authorization.authorize(SYNC, BUILDER)).toBeUndefined();
    expect(charges).toBe(1);
  });

  it.each([
    ['a further call of it', SYNC, BUILDER],
    ['a call for another builder', SYNC, OTHER_BUILDER],
    ['another operation', UPDATE, BUILDER],
  ])('leaves the charge to %s (LIM-2)', async (_call, operation, builderId) => {
    if (operation === SYNC && builderId === BUILDER) await authorization.authorize(SYNC, BUILDER);
    await authorization.authorize(operation, builderId);
    expect(charges).toBe(2);
  });
});

describe('a budget that was charged before the body', () => {
  it('covers the first operation only (LIM-2)', async () => {
    await authorization.chargeBeforeBody('sync');
    await authorization.authorize(UPDATE, BUILDER);
    expect(charges).toBe(1);
    await authorization.authorize(SYNC, BUILDER);
    expect(charges).toBe(2);
  });
});

describe('an operation without its scope', () => {
  it('is rejected before it is charged (ERR-23)', async () => {
    const operation = { ...SYNC, scope: 'write:meetings' } as const;
    expect(() => authorization.authorizeBeforeBody(operation, BUILDER)).toThrow(
      expect.objectContaining({ status: 403 }),
    );
    await expect(authorization.authorize(operation, BUILDER)).rejects.toMatchObject({ status: 403 });
    expect(charges).toBe(0);
  });
});

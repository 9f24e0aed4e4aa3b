import { declareEnum, type Value } from './enums.ts';
import { createIdScalar, createIntegerScalar } from './scalars.ts';
import type { Scope } from './scopes.ts';

export const SnapshotId = createIdScalar('snapshot', 'SnapshotId');

export const ByteCount = createIntegerScalar('ByteCount', 'Bytes', 0, Number.MAX_SAFE_INTEGER, 1_048_576);

export const SnapshotStatus = declareEnum(
  'SnapshotStatus',
  'State of a snapshot. `FAILED` was not completed, `EXPIRED` has no files any more.',
  ['PENDING', 'RUNNING', 'READY', 'FAILED', 'EXPIRED'],
);
export type SnapshotStatus = Value<typeof SnapshotStatus>;

/** The scope of each resource: that of its v1 list. */
export const SNAPSHOT_SCOPES = {
  projects: 'read:projects',
  subcontractors: 'read:subcontractors',
  subcontractor_projects: 'read:projects',
  swms_documents: 'read:swms',
  prequalifications: 'read:prequalifications',
  insurances: 'read:insurances',
  contacts: 'read:contacts',
  inductions: 'read:inductions',
  timesheets: 'read:timesheets',
  cost_codes: 'read:timesheets',
  time_types: 'read:timesheets',
  photo_folders: 'read:photos',
  photos: 'read:photos',
  meetings: 'read:meetings',
  meeting_notes: 'read:meetings',
  defects: 'read:defects',
} as const satisfies Record<string, Scope>;

export type SnapshotResource = keyof typeof SNAPSHOT_SCOPES;
export const SNAPSHOT_RESOURCES = Object.keys(SNAPSHOT_SCOPES) as SnapshotResource[];

export const SnapshotResource = declareEnum(
  'SnapshotResource',
  'A v1 list of a builder. Its scope is that of the list.',
  SNAPSHOT_RESOURCES,
);

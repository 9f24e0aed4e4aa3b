import { formatEnum } from '../shared/format.ts';

/** Meaning of a colour in badges and charts. Charts hatch what is `part` of it. */
export type Tone = 'good' | 'good part' | 'warn' | 'bad' | 'bad part';

/** States by their tone, in every list and chart of the console. */
const TONES: readonly (readonly [Tone, readonly string[]])[] = [
  ['good', ['APPROVED_2', 'REVIEWED', 'DELIVERED', 'ACTIVE', 'synced']],
  ['good part', ['APPROVED_1']],
  ['warn', ['WAITING_REVIEW', 'CHANGES_REQUESTED', 'PENDING', 'PAUSED', 'partial']],
  ['bad', ['REJECTED', 'EXPIRED', 'FAILED', 'DISABLED', 'REVOKED']],
];

const NAMES: Record<string, string> = { APPROVED_1: 'Approved once', APPROVED_2: 'Approved', synced: 'Synced' };

export const formatStatus = (status: string): string => NAMES[status] ?? formatEnum(status);

export const getTone = (status: string): Tone | undefined => TONES.find(([, states]) => states.includes(status))?.[0];

export const StatusBadge = ({ status }: { status: string }) => (
  <span className={`badge ${getTone(status) ?? ''}`}>{formatStatus(status)}</span>
);

import { formatEnum } from '../shared/format.ts';

/** Meaning of a colour in badges and charts. Charts hatch what is `part` of it. */
export type Tone = 'good' | 'good part' | 'warn' | 'bad' | 'bad part';

/** Tones of states, in every list and chart of the console. */
const TONES: Record<string, Tone> = {
  APPROVED_1: 'good part',
  APPROVED_2: 'good',
  REVIEWED: 'good',
  DELIVERED: 'good',
  ACTIVE: 'good',
  synced: 'good',
  WAITING_REVIEW: 'warn',
  CHANGES_REQUESTED: 'warn',
  PENDING: 'warn',
  PAUSED: 'warn',
  partial: 'warn',
  REJECTED: 'bad',
  EXPIRED: 'bad',
  FAILED: 'bad',
  DISABLED: 'bad',
  REVOKED: 'bad',
};

const NAMES: Record<string, string> = { APPROVED_1: 'Approved once', APPROVED_2: 'Approved', synced: 'Synced' };

export const formatStatus = (status: string): string => NAMES[status] ?? formatEnum(status);

export const getTone = (status: string): Tone | undefined => TONES[status];

export const StatusBadge = ({ status }: { status: string }) => (
  <span className={`badge ${getTone(status) ?? ''}`}>{formatStatus(status)}</span>
);

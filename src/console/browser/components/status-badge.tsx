import { formatEnum } from '../shared/format.ts';

/** Tones of states, in every list of the console. */
const TONES: Record<string, string> = {
  APPROVED_1: 'brand',
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

export const StatusBadge = ({ status }: { status: string }) => (
  <span className={`badge ${TONES[status] ?? ''}`}>{formatStatus(status)}</span>
);

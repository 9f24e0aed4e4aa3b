/** Scopes that clients of integrators may be granted. ACC-7, ACC-8. */
export const SCOPES = [
  'read:builders',
  'read:subcontractors',
  'read:projects',
  'read:prequalifications',
  'read:insurances',
  'read:contacts',
  'read:swms',
  'read:timesheets',
  'read:inductions',
  'read:meetings',
  'write:meetings',
  'read:defects',
  'read:photos',
  'write:photos',
  'write:sign_on_events',
] as const;

/** Scopes that only internal clients may be granted. ACC-16. */
export const INTERNAL_SCOPES = ['read:attendance'] as const;

export type Scope = (typeof SCOPES)[number] | (typeof INTERNAL_SCOPES)[number];

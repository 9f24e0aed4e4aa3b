/** What a scope is called where people read of it. */
interface ScopeDeclaration {
  /** In a list of a few scopes, on the pages of the authorization endpoint. */
  label: string;
  /** In the OpenAPI document and on the consent page. */
  description: string;
}

/** Scopes that a client may be allowed and an integrator may ask for, in the order of documents and pages. ACC-7, ACC-8. */
export const SCOPE_DECLARATIONS = {
  'read:builders': { label: 'company profile', description: 'Name and logo of the company' },
  'read:subcontractors': {
    label: 'subcontractors',
    description: 'Subcontractors: company details, address, status and tags',
  },
  'read:projects': { label: 'projects', description: 'Projects and their status' },
  'read:prequalifications': { label: 'prequalifications', description: 'Prequalifications with review comments' },
  'read:insurances': { label: 'insurances', description: 'Insurances of subcontractors and when they expire' },
  'read:contacts': {
    label: 'contact people',
    description: 'Contact people, with their e-mail addresses and phone numbers',
  },
  'read:swms': { label: 'SWMS', description: 'Safe work method statements (SWMS)' },
  'read:timesheets': {
    label: 'timesheets',
    description: 'Timesheets, cost codes and time types: who worked when, for how long and on what',
  },
  'read:inductions': { label: 'inductions', description: 'Inductions, and what workers filled in' },
  'read:meetings': { label: 'meetings', description: 'Meetings, agendas and notes' },
  'write:meetings': {
    label: 'changes to meetings',
    description: 'Create, rename, start and end meetings, and write meeting notes',
  },
  'read:defects': { label: 'defects', description: 'Defects and who has to fix them' },
  'read:photos': { label: 'photos', description: 'Photos, photo folders and photo reports' },
  'write:photos': {
    label: 'changes to photos',
    description: 'Add, change and remove photos, photo folders and photo reports',
  },
  'write:sign_on_events': {
    label: 'sign-on records',
    description: 'Record when workers sign on and off at sites (a limited pilot)',
  },
} as const satisfies Record<`${'read' | 'write'}:${string}`, ScopeDeclaration>;

type IntegratorScope = keyof typeof SCOPE_DECLARATIONS;

export const SCOPES = Object.keys(SCOPE_DECLARATIONS) as unknown as readonly [IntegratorScope, ...IntegratorScope[]];

/** Scopes that only internal clients may be granted. ACC-16. */
export const INTERNAL_SCOPES = ['read:attendance'] as const;

export type Scope = IntegratorScope | (typeof INTERNAL_SCOPES)[number];

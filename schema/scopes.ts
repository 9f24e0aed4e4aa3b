/** What a scope is called where people read of it. */
interface ScopeDeclaration {
  /** In the OpenAPI document. */
  description: string;
  /** In a list of a few scopes, on the pages of the authorization endpoint. */
  label: string;
  /** On the consent page. */
  consent: string;
}

/** Scopes that a client may be allowed and an integrator may ask for, in the order of documents and pages. ACC-7, ACC-8. */
export const SCOPE_DECLARATIONS = {
  'read:builders': { description: 'Read builders.', label: 'company profile', consent: 'Your company’s name and logo' },
  'read:subcontractors': {
    description: 'Read subcontractors.',
    label: 'subcontractors',
    consent: 'Subcontractors: company details, address, status and tags',
  },
  'read:projects': { description: 'Read projects.', label: 'projects', consent: 'Projects and their status' },
  'read:prequalifications': {
    description: 'Read prequalifications of subcontractors.',
    label: 'prequalifications',
    consent: 'Prequalifications and your review comments',
  },
  'read:insurances': {
    description: 'Read insurances of subcontractors.',
    label: 'insurances',
    consent: 'Subcontractors’ insurances and when they expire',
  },
  'read:contacts': {
    description: 'Read contacts of subcontractors.',
    label: 'contact people',
    consent: 'Contact people, with their e-mail addresses and phone numbers',
  },
  'read:swms': {
    description: 'Read SWMS (safe work method statement) documents.',
    label: 'SWMS',
    consent: 'Safe work method statements (SWMS)',
  },
  'read:timesheets': {
    description: 'Read timesheets, cost codes and time types.',
    label: 'timesheets',
    consent: 'Timesheets: who worked when, for how long and on what',
  },
  'read:inductions': {
    description: 'Read inductions of workers.',
    label: 'inductions',
    consent: 'Inductions, and what workers filled in',
  },
  'read:meetings': {
    description: 'Read meetings and their notes.',
    label: 'meetings',
    consent: 'Meetings, agendas and notes',
  },
  'write:meetings': {
    description: 'Create, change, start and end meetings; sync their notes.',
    label: 'changes to meetings',
    consent: 'Create, rename, start and end meetings, and write meeting notes',
  },
  'read:defects': { description: 'Read defects.', label: 'defects', consent: 'Defects and who has to fix them' },
  'read:photos': {
    description: 'Read photos, photo folders and photo reports.',
    label: 'photos',
    consent: 'Photos, photo folders and photo reports',
  },
  'write:photos': {
    description: 'Create, change and delete photos and photo folders; sync photo galleries and photo reports.',
    label: 'changes to photos',
    consent: 'Add, change and remove photos, photo folders and photo reports',
  },
  'write:sign_on_events': {
    description: 'Post gate attendance. Granted only by agreement during a limited pilot.',
    label: 'sign-on records',
    consent: 'Record when workers sign on and off at your sites',
  },
} as const satisfies Record<`${'read' | 'write'}:${string}`, ScopeDeclaration>;

type IntegratorScope = keyof typeof SCOPE_DECLARATIONS;

export const SCOPES = Object.keys(SCOPE_DECLARATIONS) as unknown as readonly [IntegratorScope, ...IntegratorScope[]];

/** Scopes that only internal clients may be granted. ACC-16. */
export const INTERNAL_SCOPES = ['read:attendance'] as const;

export type Scope = IntegratorScope | (typeof INTERNAL_SCOPES)[number];

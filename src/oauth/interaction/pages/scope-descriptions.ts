import type { SCOPES } from '../../../../schema/scopes.ts';

/** Description of a scope for users. */
interface ScopeDescription {
  /** Whether the scope allows writes. */
  canWrite: boolean;
  /** For use within a sentence. */
  short: string;
  text: string;
}

const readScope = (short: string, text: string): ScopeDescription => ({ canWrite: false, short, text });
const writeScope = (short: string, text: string): ScopeDescription => ({ canWrite: true, short, text });

/** In the order of the consent page. OAU-24. */
export const SCOPE_DESCRIPTIONS: Record<(typeof SCOPES)[number], ScopeDescription> = {
  'read:builders': readScope('company profile', 'Your company’s name and logo'),
  'read:projects': readScope('projects', 'Projects and their status'),
  'read:subcontractors': readScope('subcontractors', 'Subcontractors: company details, address, status and tags'),
  'read:contacts': readScope('contact people', 'Contact people, with their e-mail addresses and phone numbers'),
  'read:prequalifications': readScope('prequalifications', 'Prequalifications and your review comments'),
  'read:insurances': readScope('insurances', 'Subcontractors’ insurances and when they expire'),
  'read:swms': readScope('SWMS', 'Safe work method statements (SWMS)'),
  'read:inductions': readScope('inductions', 'Inductions, and what workers filled in'),
  'read:timesheets': readScope('timesheets', 'Timesheets: who worked when, for how long and on what'),
  'read:meetings': readScope('meetings', 'Meetings, agendas and notes'),
  'read:defects': readScope('defects', 'Defects and who has to fix them'),
  'read:photos': readScope('photos', 'Photos, photo folders and photo reports'),
  'write:meetings': writeScope(
    'changes to meetings',
    'Create, rename, start and end meetings, and write meeting notes',
  ),
  'write:photos': writeScope('changes to photos', 'Add, change and remove photos, photo folders and photo reports'),
  'write:sign_on_events': writeScope('sign-on records', 'Record when workers sign on and off at your sites'),
};

/** Returns the descriptions of the scopes by reads and writes. A scope without a description is listed under reads. */
export function describeScopes(scopes: readonly string[]): { readable: string[]; changeable: string[] } {
  const descriptions = Object.entries(SCOPE_DESCRIPTIONS).filter(([scope]) => scopes.includes(scope));
  const undescribed = scopes.filter((scope) => !(scope in SCOPE_DESCRIPTIONS));
  const textsOf = (canWrite: boolean) =>
    descriptions.filter(([, description]) => description.canWrite === canWrite).map(([, { text }]) => text);
  return { readable: [...textsOf(false), ...undescribed], changeable: textsOf(true) };
}

/** Returns a short list of the scopes, such as `projects, changes to photos`. */
export const summarizeScopes = (scopes: readonly string[]): string =>
  scopes.map((scope) => (SCOPE_DESCRIPTIONS as Record<string, ScopeDescription>)[scope]?.short ?? scope).join(', ');

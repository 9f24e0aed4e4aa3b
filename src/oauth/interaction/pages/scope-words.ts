import type { SCOPES } from '../../../../schema/scopes.ts';

/** What a scope means to the people whose data it is. */
interface ScopeWords {
  /** Whether the application can add or change something with it. */
  changes: boolean;
  /** In a list of a few. */
  short: string;
  words: string;
}

const see = (short: string, words: string): ScopeWords => ({ changes: false, short, words });
const change = (short: string, words: string): ScopeWords => ({ changes: true, short, words });

/** In the order in which people read them. OAU-24. */
export const SCOPE_WORDS: Record<(typeof SCOPES)[number], ScopeWords> = {
  'read:builders': see('company profile', 'Your company’s name and logo'),
  'read:projects': see('projects', 'Projects and their status'),
  'read:subcontractors': see('subcontractors', 'Subcontractors: company details, address, status and tags'),
  'read:contacts': see('contact people', 'Contact people, with their e-mail addresses and phone numbers'),
  'read:prequalifications': see('prequalifications', 'Prequalifications and your review comments'),
  'read:insurances': see('insurances', 'Subcontractors’ insurances and when they expire'),
  'read:swms': see('SWMS', 'Safe work method statements (SWMS)'),
  'read:inductions': see('inductions', 'Inductions, and what workers filled in'),
  'read:timesheets': see('timesheets', 'Timesheets: who worked when, for how long and on what'),
  'read:meetings': see('meetings', 'Meetings, agendas and notes'),
  'read:defects': see('defects', 'Defects and who has to fix them'),
  'read:photos': see('photos', 'Photos, photo folders and photo reports'),
  'write:meetings': change('changes to meetings', 'Create, rename, start and end meetings, and write meeting notes'),
  'write:photos': change('changes to photos', 'Add, change and remove photos, photo folders and photo reports'),
  'write:sign_on_events': change('sign-on records', 'Record when workers sign on and off at your sites'),
};

/** What the scopes allow, in words, apart by whether they only show or also change something. */
export function wordsOf(scopes: readonly string[]): { sees: string[]; changes: string[] } {
  const asked = Object.entries(SCOPE_WORDS).filter(([scope]) => scopes.includes(scope));
  const unknown = scopes.filter((scope) => !(scope in SCOPE_WORDS));
  const pick = (changes: boolean) => asked.filter(([, one]) => one.changes === changes).map(([, { words }]) => words);
  return { sees: [...pick(false), ...unknown], changes: pick(true) };
}

/** The scopes in a few words: `projects, changes to photos`. */
export const shortWordsOf = (scopes: readonly string[]): string =>
  scopes.map((scope) => (SCOPE_WORDS as Record<string, ScopeWords>)[scope]?.short ?? scope).join(', ');

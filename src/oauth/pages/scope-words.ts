import type { SCOPES } from '../../../schema/scopes.ts';

/** What a scope means to the people whose data it is. */
interface ScopeWords {
  /** Whether the application can add or change something with it. */
  changes: boolean;
  words: string;
}

const see = (words: string): ScopeWords => ({ changes: false, words });
const change = (words: string): ScopeWords => ({ changes: true, words });

/** In the order in which people read them. Part 5 of the specification. */
export const SCOPE_WORDS: Record<(typeof SCOPES)[number], ScopeWords> = {
  'read:builders': see('Your company’s name and logo'),
  'read:projects': see('Projects and their status'),
  'read:subcontractors': see('Subcontractors: company details, address, status and tags'),
  'read:contacts': see('Contact people, with their e-mail addresses and phone numbers'),
  'read:prequalifications': see('Prequalifications and your review comments'),
  'read:insurances': see('Subcontractors’ insurances and when they expire'),
  'read:swms': see('Safe work method statements (SWMS)'),
  'read:inductions': see('Inductions, and what workers filled in'),
  'read:timesheets': see('Timesheets: who worked when, for how long and on what'),
  'read:meetings': see('Meetings, agendas and notes'),
  'read:defects': see('Defects and who has to fix them'),
  'read:photos': see('Photos, photo folders and photo reports'),
  'write:meetings': change('Create, rename, start and end meetings, and write meeting notes'),
  'write:photos': change('Add, change and remove photos, photo folders and photo reports'),
  'write:sign_on_events': change('Record when workers sign on and off at your sites'),
};

/** What the scopes allow, in words, apart by whether they only show or also change something. */
export function wordsOf(scopes: readonly string[]): { sees: string[]; changes: string[] } {
  const asked = Object.entries(SCOPE_WORDS).filter(([scope]) => scopes.includes(scope));
  const unknown = scopes.filter((scope) => !(scope in SCOPE_WORDS));
  const pick = (changes: boolean) => asked.filter(([, one]) => one.changes === changes).map(([, { words }]) => words);
  return { sees: [...pick(false), ...unknown], changes: pick(true) };
}

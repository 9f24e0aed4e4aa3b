/* Names and texts of the demo. */

const list = (text: string): string[] => text.split(';').map((entry) => entry.trim().replace(/\s+/g, ' '));

/** Names and formats of the regions. A place is suburb, state and postcode; in a phone number, `#` is a digit. */
export const LOCALES = {
  au1: {
    country: 'Australia',
    timeZone: null,
    builders: list('Banksia Constructions; Harbourline Building Group; Redgum Commercial; Tallowood Projects'),
    places: list(`Alexandria, NSW, 2015; Parramatta, NSW, 2150; Newcastle West, NSW, 2302; Richmond, VIC, 3121;
      Geelong, VIC, 3220; Fortitude Valley, QLD, 4006; Fremantle, WA, 6160; Port Adelaide, SA, 5015; Hobart, TAS, 7000`),
    companyEnding: 'Pty Ltd',
    phone: '04## ### ###',
  },
  us1: {
    country: 'United States',
    timeZone: 'America/Chicago',
    builders: ['Lone Star Builders'],
    places: list('Round Rock, TX, 78664; Plano, TX, 75074; Tacoma, WA, 98402; Aurora, CO, 80012; Durham, NC, 27701'),
    companyEnding: 'LLC',
    phone: '(512) 555-01##',
  },
};

export const STREETS = list('Station Street; Wharf Road; Railway Avenue; Foundry Lane; Market Street; Mill Street');

/** Beginning of a company's name, before its trade. */
export const COMPANIES = list(
  'Kestrel; Coastline; Highpoint; Capricorn; Summit; Trident; Blue Ridge; Keystone; Redwood',
);

export const TRADES = list('Plumbing; Electrical; Carpentry; Scaffolding; Painting; Concreting; Roofing; Tiling');

/** Tags of subcontractors. */
export const TAGS = list('preferred; local; services; structure; high risk');

/** Names of safe work method statements. */
export const SWMS = list('Working at height; Manual handling; Hot works; Cable hauling; Traffic management');

export const DEFECTS = list(`Basin waste leaks; GPO plate cracked; Exit sign does not light; Door binds on frame;
  Paint run on wall; Slab edge honeycombed; Gutter holds water; Tile drummy; Grout missing at hob`);

/** End of a project's name, after the suburb. */
export const PROJECTS = list(`Apartments, Stage 1; Primary School Upgrade; Medical Centre; Townhouses; Aquatic Centre;
  Distribution Centre; Library Refurbishment; Office Tower; Hotel Extension; Car Park; Fire Station; Student Housing`);

export const LOCATIONS = list(
  'Ground floor lobby; Level 1 wet areas; Level 2 east; Plant room; Roof; Basement car park',
);

export const FIRST_NAMES = list(`Aaron; Aisha; Ben; Bianca; Callum; Deepak; Elena; Ethan; Fatima; Grace; Hassan; Isla;
  Jack; Kai; Lachlan; Linh; Matilda; Nadia; Noah; Olivia; Omar; Priya; Ryan; Sione; Stella; Thomas; Wei; Zoe`);

export const LAST_NAMES = list(`Abbott; Ahmed; Bailey; Bianchi; Campbell; Chan; Costa; Faleafa; Fraser; Georgiou; Gupta;
  Hoang; Hughes; Kaur; Kelly; Kowalski; Lam; Lopez; Mancini; Murphy; Nair; Owens; Patel; Petrov; Rahman; Rossi; Sharma;
  Sullivan; Tanaka; Tran; Vella; Wright; Zhang`);

/** Roles of users in a builder's account. */
export const ROLES = ['ADMIN', 'PROJECT_MANAGER', 'SITE_MANAGER', 'SAFETY_MANAGER', 'FOREMAN', 'ESTIMATOR'] as const;

export const INDUCTION_QUESTIONS = [
  { name: 'Emergency contact', type: 'text' },
  { name: 'Emergency phone', type: 'phone' },
  { name: 'High-risk work licence', type: 'text' },
  { name: 'I have read the site rules', type: 'checkbox' },
] as const;

/** Codes of six characters with their descriptions. */
export const COST_CODES = list(`01-100 Site establishment; 01-200 Site supervision; 02-100 Demolition; 03-100 Formwork;
  03-200 Concrete supply and place; 04-100 Masonry; 05-100 Structural steel; 06-100 Carpentry; 07-100 Roofing;
  09-100 Plasterboard and ceilings; 09-200 Painting; 10-100 Variations`);

/** The first is the usual one, the second of long days. */
export const TIME_TYPES = list('Ordinary time; Overtime x 1.5; Rostered day off; Travel');

export const TIMESHEET_NOTES = list('Concrete pour, level 2; Rain from 2 pm; Waited on crane until 9:30');

export const REVIEW_COMMENTS = list('References checked.; Public liability cover is below the required amount.');

/** Tags that defects may be assigned to. */
export const DEFECT_TAGS = list('Client walk-through; Handover; Safety; Warranty');

/** Meeting templates with their sections. */
export const MEETING_TEMPLATES = {
  'Site coordination': list('Safety; Programme; Trades on site this week; Actions'),
  'Toolbox talk': list('Topic; Hazards raised; Actions'),
  'Client progress': list('Progress since last meeting; Variations; Risks'),
};

export const MEETING_TITLES = list(
  'Weekly site coordination; Toolbox talk; Client progress meeting; Pre-pour inspection',
);

export const SECTION_TEXTS = list(`No incidents since the last meeting. Two near misses were reported and closed out.;
  Level 3 slab pour is booked for Thursday, weather permitting.; Two variations wait for the client.;
  Switchboard delivery has moved to the 18th. No effect on the critical path.; Façade sample approved.`);

export const ACTIONS = list('Send the revised programme; Confirm the crane booking; Replace damaged edge protection');

export const PHOTO_FOLDERS = list('Level 1; Level 2; Facade; Services');

export const PHOTO_SUBJECTS = list('Slab edge; Formwork; Scaffold, east side; Crane lift; Stair core; Switchboard');

import type { RegionId } from '../shared/regions.ts';

/* Names and texts of the demo. Lists have one entry a line, or entries between semicolons. */

const list = (text: string): string[] =>
  text
    .split(/[;\n]/)
    .map((entry) => entry.trim())
    .filter(Boolean);

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Names and formats of a region. */
export interface Locale {
  country: string;
  /** Time zone of the builders; null for that of the region. */
  timeZone: string | null;
  /** Whether companies have an Australian Business Number. */
  hasAbn: boolean;
  builders: string[];
  /** Suburb, state and postcode. */
  places: [suburb: string, state: string, postcode: string][];
  streets: string[];
  /** Beginning of a company's name, before its trade. */
  companies: string[];
  companyEndings: string[];
  /** Formats of phone numbers; `#` is a digit. */
  phones: string[];
  projectPlatforms: string[];
  companyPlatforms: string[];
  workCover: string;
  /** Names of other insurances. */
  otherCovers: string[];
}

const places = (text: string) =>
  list(text).map((place) => place.split(', ') as [suburb: string, state: string, postcode: string]);

export const LOCALES: Record<RegionId, Locale> = {
  au1: {
    country: 'Australia',
    timeZone: null,
    hasAbn: true,
    builders: list(`Banksia Constructions; Harbourline Building Group; Redgum Commercial; Tallowood Projects
      Ironbark Civil and Building; Southern Cross Fitouts; Wattle Ridge Homes; Karri Build`),
    places: places(`Alexandria, NSW, 2015; Parramatta, NSW, 2150; Newcastle West, NSW, 2302; Wollongong, NSW, 2500
      Richmond, VIC, 3121; Footscray, VIC, 3011; Geelong, VIC, 3220; Fortitude Valley, QLD, 4006; Southport, QLD, 4215
      Townsville City, QLD, 4810; Fremantle, WA, 6160; Joondalup, WA, 6027; Port Adelaide, SA, 5015; Hobart, TAS, 7000
      Belconnen, ACT, 2617; Darwin City, NT, 0800`),
    streets:
      list(`Station Street; Wharf Road; Industrial Drive; Victoria Parade; Botany Road; Railway Avenue; Foundry Lane
      Princes Highway; Quarry Road; Market Street; Boundary Road; Depot Street`),
    companies: list(`Kestrel; Coastline; Barker and Sons; Highpoint; Southside; Capricorn; Murray River; Pinnacle
      Bass Strait; Yarra; Gumleaf; Trident; Brolga; Illawarra; Macedon; Northern Rivers; Swan Valley; Outback; Platypus`),
    companyEndings: ['Pty Ltd', 'Services Pty Ltd', 'Contractors', 'Group Pty Ltd', 'Solutions'],
    phones: ['04## ### ###', '(02) 9### ####', '(03) 9### ####', '(07) 3### ####'],
    projectPlatforms: ['procore', 'aconex', 'autodesk'],
    companyPlatforms: ['xero', 'myob', 'procore'],
    workCover: 'Workers compensation certificate of currency',
    otherCovers: ['Professional indemnity', 'Plant and equipment', 'Contract works', 'Motor vehicle'],
  },
  us1: {
    country: 'United States',
    timeZone: 'America/Chicago',
    hasAbn: false,
    builders: list('Lone Star Builders; Cascade Ridge Construction; Great Lakes Contracting; Mesa Verde Homes'),
    places: places(`Round Rock, TX, 78664; Plano, TX, 75074; Tacoma, WA, 98402; Beaverton, OR, 97005; Aurora, CO, 80012
      Tempe, AZ, 85281; Durham, NC, 27701; Grand Rapids, MI, 49503; Worcester, MA, 01608; Columbus, OH, 43215`),
    streets: list('Main Street; Commerce Boulevard; Industrial Parkway; Oak Avenue; County Road 12; Mill Street'),
    companies: list(`Redwood; Summit; Tri-County; Blue Ridge; Longhorn; Lakeshore; Granite State; Evergreen; Cornerstone
      Frontier; High Plains; Keystone`),
    companyEndings: ['LLC', 'Inc.', 'Contractors LLC', 'and Sons', 'Services Inc.'],
    phones: ['(512) 555-01##', '(206) 555-01##', '(303) 555-01##', '(614) 555-01##'],
    projectPlatforms: ['procore', 'autodesk'],
    companyPlatforms: ['quickbooks', 'procore', 'sage'],
    workCover: "Workers' compensation certificate",
    otherCovers: ['Umbrella liability', 'Commercial auto', "Builder's risk", 'Professional liability'],
  },
};

/** End of a project's name, after the suburb. */
export const PROJECTS = list(`Apartments, Stage 1; Primary School Upgrade; Medical Centre; Townhouses
  Distribution Centre; Aquatic Centre; Library Refurbishment; Aged Care Residences; Office Tower; Community Hub
  Hotel Extension; Data Centre; Car Park; Shopping Village; Fire Station; Student Housing`);

export const LOCATIONS = list(`Ground floor lobby; Level 1 corridor; Level 1 wet areas; Level 2 east; Level 2 west
  Level 3 plant room; Roof; Basement car park; External works; Stair 1; Lift lobby; Loading dock`);

export const FIRST_NAMES =
  words(`Aaron Aisha Alana Amelia Anh Arjun Ava Ben Bianca Bilal Caitlin Callum Carlos Charlotte Chen
  Claire Daniel Darcy Deepak Elena Emily Ethan Fatima Finn Gabriel Georgia Grace Hamish Hannah Hassan Imogen Isaac Isla Jack
  Jade Jessica Joel Kai Kate Kiran Kylie Lachlan Leila Liam Linh Lucy Luke Marcus Maria Matilda Megan Mei Mia Nadia Nathan
  Nikhil Noah Olivia Omar Patrick Phoebe Priya Rahul Rebecca Rosa Ryan Samuel Sanjay Sarah Sione Sofia Stella Tahlia Tama
  Thomas Toby Uma Vikram Wei Xavier Yasmin Zac Zoe`);

export const LAST_NAMES =
  words(`Abbott Ahmed Anderson Armstrong Bailey Barnes Bennett Bianchi Brennan Burns Campbell Chan
  Chandra Clarke Conti Costa Crawford Cruz Davies Dawson Doyle Edwards Evans Faleafa Ferguson Fernandez Fitzgerald Fraser
  Gallagher Garcia Georgiou Gibson Gill Graham Griffiths Gupta Hamilton Harvey Hayes Henderson Hoang Hughes Hussain Iyer
  Jenkins Jones Kaur Kelly Kennedy Khan Kowalski Kumar Lam Lawson Le Lewis Lim Lopez Malik Mancini Marshall McCarthy McLean
  Mehta Moore Murphy Nair Novak Owens Papadopoulos Park Patel Perera Petrov Pham Price Rahman Reid Richards Rossi Russell
  Saunders Sharma Singh Stewart Sullivan Tanaka Thompson Tran Tuilagi Vella Wallace Wang Watson Wong Wright Yang Zhang`);

/** Roles of users in a builder's account. */
export const ROLES = ['ADMIN', 'PROJECT_MANAGER', 'SITE_MANAGER', 'SAFETY_MANAGER', 'FOREMAN', 'ESTIMATOR'] as const;

export const INDUCTION_QUESTIONS = [
  { name: 'Emergency contact', type: 'text' },
  { name: 'Emergency phone', type: 'phone' },
  { name: 'High-risk work licence', type: 'text' },
  { name: 'Medical conditions that first aiders should know of', type: 'textarea' },
  { name: 'I have read the site rules', type: 'checkbox' },
] as const;

/** A trade: its name, tags, safe work method statements and typical defects. */
interface Trade {
  name: string;
  tags: string[];
  swms: string[];
  defects: string[];
}

const trade = (name: string, tags: string, swms: string, defects: string): Trade => ({
  name,
  tags: list(tags),
  swms: list(swms),
  defects: list(defects),
});

export const TRADES: Trade[] = [
  trade(
    'Plumbing',
    'hydraulics; services',
    'Excavating for services; Hot works on copper pipe; Working in roof space',
    'Basin waste leaks; Hot and cold reversed at shower; Floor waste set too high; No lagging on hot water line',
  ),
  trade(
    'Electrical',
    'electrical; services',
    'Isolation and testing; Cable hauling in risers; Work on energised boards',
    'GPO plate cracked; Downlight not fitted flush; Switchboard schedule missing; Exit sign does not light',
  ),
  trade(
    'Carpentry',
    'structure; fit-out',
    'Frame and truss erection; Use of nail guns; Power saws and benches',
    'Door binds on frame; Skirting joint open; Architrave out of plumb; Shelf loose',
  ),
  trade(
    'Scaffolding',
    'access; high risk',
    'Erecting modular scaffold; Dismantling scaffold over public way',
    'Scaffold tie hole not patched; Base plate mark on paving',
  ),
  trade(
    'Painting',
    'finishes',
    'Painting from elevated work platforms; Use of solvent-based coatings',
    'Paint run on wall; Second coat missing; Overspray on window; Scuff marks on feature wall',
  ),
  trade(
    'Concreting',
    'structure; civil',
    'Concrete pour with boom pump; Formwork stripping; Post-tensioning',
    'Slab edge honeycombed; Surface cracks in driveway; Step height differs',
  ),
  trade(
    'Roofing',
    'envelope; high risk',
    'Roof sheeting at height; Safety mesh installation',
    'Flashing lifts at parapet; Gutter holds water; Roof screw missing washer',
  ),
  trade(
    'Tiling',
    'finishes; wet areas',
    'Wet cutting of tiles; Manual handling of pallets',
    'Tile drummy; Grout missing at hob; Tile lippage in lobby; Fall to waste insufficient',
  ),
  trade(
    'Glazing',
    'envelope',
    'Lifting glass with vacuum cups; Curtain wall installation',
    'Window seal torn; Scratch on glass panel; Sliding door drags',
  ),
  trade(
    'Air Conditioning',
    'mechanical; services',
    'Lifting plant by crane; Brazing with nitrogen purge',
    'Condensate drips from unit; Grille not aligned; Thermostat reads wrong zone',
  ),
  trade(
    'Fire Services',
    'fire; services',
    'Hydrant and sprinkler installation; Penetration sealing',
    'Penetration not sealed; Sprinkler head painted over; Extinguisher sign missing',
  ),
  trade(
    'Earthmoving',
    'civil; early works',
    'Bulk excavation; Trench shoring; Mobile plant and pedestrians',
    'Silt fence down; Trench not backfilled to level',
  ),
];

/** SWMS of a builder's own company. */
export const COMPANY_SWMS = list(
  'Site establishment; Traffic management; Crane and hoist operation; Working at height',
);

export const COST_CODES =
  list(`01-100 Site establishment; 01-200 Site supervision; 01-300 Temporary fencing and hoarding
  02-100 Demolition; 02-200 Bulk earthworks; 03-100 Formwork; 03-200 Concrete supply and place; 03-300 Reinforcement
  04-100 Masonry; 05-100 Structural steel; 06-100 Carpentry and framing; 07-100 Roofing and cladding; 07-200 Waterproofing
  08-100 Doors and windows; 09-100 Plasterboard and ceilings; 09-200 Painting; 10-100 Variations
  11-100 Defects and rectification; 12-100 Cleaning`).map((entry) => [entry.slice(0, 6), entry.slice(7)] as const);

/** The first is the usual one. */
export const TIME_TYPES = list('Ordinary time; Overtime x 1.5; Overtime x 2; Rostered day off; Travel; Wet weather');

export const TIMESHEET_NOTES = list(`Concrete pour, level 2; Stripped formwork, north side; Rain from 2 pm
  Site clean-up before inspection; Waited on crane until 9:30; Helped the electricians with penetrations
  Induction and toolbox talk first hour; Moved to the other site after lunch`);

export const REVIEW_COMMENTS = list(`Approved for works up to the agreed value.; References checked.
  Public liability cover is below the required amount.; Please add the safety management plan.`);

/** Tags that defects may be assigned to. */
export const DEFECT_TAGS = list('Client walk-through; Handover; Safety; Warranty');

/** Meeting templates with their sections. */
export const MEETING_TEMPLATES = [
  {
    name: 'Site coordination',
    sections: list('Safety; Programme; Trades on site this week; Deliveries and cranage; Actions'),
  },
  { name: 'Toolbox talk', sections: list('Topic; Hazards raised; Actions') },
  { name: 'Client progress', sections: list('Progress since last meeting; Variations; Quality; Risks') },
];

export const MEETING_TITLES = list(`Weekly site coordination; Toolbox talk: working at height; Client progress meeting
  Design and services coordination; Pre-pour inspection; Safety committee; Subcontractor kick-off; Programme review`);

export const SECTION_TEXTS = list(`
  No incidents since the last meeting. Two near misses were reported and closed out.
  Level 3 slab pour is booked for Thursday, weather permitting. Formwork is one day ahead.
  Crane inspection is due. The hoist returns to service on Monday.
  Two variations were submitted and wait for the client.
  Switchboard delivery has moved to the 18th. No effect on the critical path.
  Façade sample approved. Shop drawings to follow.`);

export const AGENDAS = [
  '1. Safety\n2. Programme\n3. Trades\n4. Other business',
  '1. Actions from last time\n2. Progress\n3. Variations\n4. Risks',
  'Walk the site, then review the open items.',
];

export const ACTIONS = list(`Send the revised programme to all trades; Confirm the crane booking
  Replace damaged edge protection on level 2; Close out the open SWMS reviews; Book the waterproofing inspection`);

export const PHOTO_FOLDERS = list('Level 1; Level 2; Facade; Services');

export const PHOTO_SUBJECTS = list(
  'Slab edge; Formwork; Scaffold, east side; Crane lift; Site fence; Stair core; Switchboard',
);

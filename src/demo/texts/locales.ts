import type { RegionId } from '../../shared/regions.ts';

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
  /** End of a project's name, after the suburb. */
  projects: string[];
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

const lines = (text: string) => text.trim().split(/\s*\n\s*/);

const places = (text: string) =>
  lines(text).map((line) => line.split(', ') as [suburb: string, state: string, postcode: string]);

const PROJECTS = lines(`
  Apartments, Stage 1
  Primary School Upgrade
  Medical Centre
  Townhouses
  Distribution Centre
  Aquatic Centre
  Library Refurbishment
  Aged Care Residences
  Office Tower
  Community Hub
  Hotel Extension
  Data Centre
  Car Park
  Shopping Village
  Fire Station
  Research Laboratory
  Student Housing
  Sports Pavilion
`);

const AUSTRALIA: Locale = {
  country: 'Australia',
  timeZone: null,
  hasAbn: true,
  builders: lines(`
    Banksia Constructions
    Harbourline Building Group
    Redgum Commercial
    Tallowood Projects
    Ironbark Civil and Building
    Southern Cross Fitouts
    Wattle Ridge Homes
    Karri Build
    Blue Gum Developments
    Jarrah Constructions
    Coolamon Projects
    Mallee Building Company
    Bilby Homes
    Stringybark Group
    Pandanus Constructions
    Boronia Builders
    Casuarina Commercial
    Lilly Pilly Living
    Snowgum Constructions
    Saltbush Building
  `),
  places: places(`
    Alexandria, NSW, 2015
    Parramatta, NSW, 2150
    Newcastle West, NSW, 2302
    Wollongong, NSW, 2500
    Dubbo, NSW, 2830
    Richmond, VIC, 3121
    Footscray, VIC, 3011
    Geelong, VIC, 3220
    Ballarat Central, VIC, 3350
    Dandenong South, VIC, 3175
    Fortitude Valley, QLD, 4006
    Southport, QLD, 4215
    Maroochydore, QLD, 4558
    Townsville City, QLD, 4810
    Fremantle, WA, 6160
    Joondalup, WA, 6027
    Bunbury, WA, 6230
    Port Adelaide, SA, 5015
    Mawson Lakes, SA, 5095
    Hobart, TAS, 7000
    Launceston, TAS, 7250
    Fyshwick, ACT, 2609
    Belconnen, ACT, 2617
    Darwin City, NT, 0800
  `),
  streets: lines(`
    Station Street
    Wharf Road
    Industrial Drive
    Victoria Parade
    Botany Road
    Railway Avenue
    Foundry Lane
    Princes Highway
    Quarry Road
    Market Street
    Enterprise Crescent
    Boundary Road
    Wattle Street
    Commercial Road
    Depot Street
  `),
  projects: PROJECTS,
  companies: lines(`
    Kestrel
    Coastline
    Barker and Sons
    Highpoint
    Southside
    Capricorn
    Murray River
    Pinnacle
    Bass Strait
    Lockyer
    Yarra
    Gumleaf
    Westgate
    Trident
    Brolga
    Illawarra
    Macedon
    Delaney
    Northern Rivers
    Apex
    Swan Valley
    Hunter
    Truline
    Moreton
    Eureka
    Outback
    Platypus
    Meridian
  `),
  companyEndings: ['Pty Ltd', 'Services Pty Ltd', 'Contractors', 'Group Pty Ltd', 'Solutions'],
  phones: ['04## ### ###', '(02) 9### ####', '(03) 9### ####', '(07) 3### ####'],
  projectPlatforms: ['procore', 'aconex', 'autodesk'],
  companyPlatforms: ['xero', 'myob', 'procore'],
  workCover: 'Workers compensation certificate of currency',
  otherCovers: ['Professional indemnity', 'Plant and equipment', 'Contract works', 'Motor vehicle'],
};

const UNITED_STATES: Locale = {
  country: 'United States',
  timeZone: 'America/Chicago',
  hasAbn: false,
  builders: lines(`
    Lone Star Builders
    Cascade Ridge Construction
    Great Lakes Contracting
    Piedmont Building Company
    Mesa Verde Homes
    Bluebonnet Construction
    Hudson Gate Builders
    Prairie Line Contractors
  `),
  places: places(`
    Round Rock, TX, 78664
    Plano, TX, 75074
    Tacoma, WA, 98402
    Beaverton, OR, 97005
    Aurora, CO, 80012
    Tempe, AZ, 85281
    Durham, NC, 27701
    Grand Rapids, MI, 49503
    Worcester, MA, 01608
    Columbus, OH, 43215
  `),
  streets: lines(`
    Main Street
    Commerce Boulevard
    Industrial Parkway
    Oak Avenue
    Railroad Street
    County Road 12
    Harbor Drive
    Mill Street
    2nd Avenue
    Lincoln Way
  `),
  projects: PROJECTS,
  companies: lines(`
    Redwood
    Summit
    Tri-County
    Blue Ridge
    Longhorn
    Lakeshore
    Granite State
    Patriot
    Evergreen
    Cornerstone
    Frontier
    Liberty
    High Plains
    Bayside
    Keystone
    Pioneer
  `),
  companyEndings: ['LLC', 'Inc.', 'Contractors LLC', 'and Sons', 'Services Inc.'],
  phones: ['(512) 555-01##', '(206) 555-01##', '(303) 555-01##', '(614) 555-01##'],
  projectPlatforms: ['procore', 'autodesk'],
  companyPlatforms: ['quickbooks', 'procore', 'sage'],
  workCover: "Workers' compensation certificate",
  otherCovers: ['Umbrella liability', 'Commercial auto', "Builder's risk", 'Professional liability'],
};

export const LOCALES: Record<RegionId, Locale> = { au1: AUSTRALIA, us1: UNITED_STATES };

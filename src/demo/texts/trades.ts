/** A trade: its name, tags, safe work method statements and typical defects. */
interface Trade {
  name: string;
  tags: string[];
  swms: string[];
  defects: string[];
}

const trade = (name: string, tags: string[], swms: string[], defects: string[]): Trade => ({
  name,
  tags,
  swms,
  defects,
});

export const TRADES: Trade[] = [
  trade(
    'Plumbing',
    ['hydraulics', 'services'],
    ['Excavating for services', 'Hot works on copper pipe', 'Working in roof space'],
    [
      'Basin waste leaks',
      'Hot and cold reversed at shower',
      'Floor waste set too high',
      'No lagging on hot water line',
    ],
  ),
  trade(
    'Electrical',
    ['electrical', 'services'],
    ['Isolation and testing', 'Cable hauling in risers', 'Work on energised boards'],
    ['GPO plate cracked', 'Downlight not fitted flush', 'Switchboard schedule missing', 'Exit sign does not light'],
  ),
  trade(
    'Carpentry',
    ['structure', 'fit-out'],
    ['Frame and truss erection', 'Use of nail guns', 'Power saws and benches'],
    ['Door binds on frame', 'Skirting joint open', 'Architrave out of plumb', 'Shelf loose'],
  ),
  trade(
    'Scaffolding',
    ['access', 'high risk'],
    ['Erecting modular scaffold', 'Dismantling scaffold over public way'],
    ['Scaffold tie hole not patched', 'Base plate mark on paving'],
  ),
  trade(
    'Painting',
    ['finishes'],
    ['Painting from elevated work platforms', 'Use of solvent-based coatings'],
    ['Paint run on wall', 'Second coat missing', 'Overspray on window', 'Scuff marks on feature wall'],
  ),
  trade(
    'Bricklaying',
    ['structure', 'masonry'],
    ['Brick and block laying', 'Silica dust when cutting masonry'],
    ['Weep holes blocked', 'Mortar stains on face brick', 'Control joint not sealed'],
  ),
  trade(
    'Concreting',
    ['structure', 'civil'],
    ['Concrete pour with boom pump', 'Formwork stripping', 'Post-tensioning'],
    ['Slab edge honeycombed', 'Surface cracks in driveway', 'Step height differs'],
  ),
  trade(
    'Roofing',
    ['envelope', 'high risk'],
    ['Roof sheeting at height', 'Safety mesh installation'],
    ['Flashing lifts at parapet', 'Gutter holds water', 'Roof screw missing washer'],
  ),
  trade(
    'Tiling',
    ['finishes', 'wet areas'],
    ['Wet cutting of tiles', 'Manual handling of pallets'],
    ['Tile drummy', 'Grout missing at hob', 'Tile lippage in lobby', 'Fall to waste insufficient'],
  ),
  trade(
    'Glazing',
    ['envelope'],
    ['Lifting glass with vacuum cups', 'Curtain wall installation'],
    ['Window seal torn', 'Scratch on glass panel', 'Sliding door drags'],
  ),
  trade(
    'Air Conditioning',
    ['mechanical', 'services'],
    ['Lifting plant by crane', 'Brazing with nitrogen purge'],
    ['Condensate drips from unit', 'Grille not aligned', 'Thermostat reads wrong zone'],
  ),
  trade(
    'Plastering',
    ['finishes', 'fit-out'],
    ['Fixing plasterboard on stilts', 'Sanding of joints'],
    ['Joint visible under light', 'Corner bead damaged', 'Nail pops in ceiling'],
  ),
  trade(
    'Landscaping',
    ['external', 'civil'],
    ['Operating a mini excavator', 'Planting near services'],
    ['Turf not taken', 'Irrigation head blocked', 'Paver loose'],
  ),
  trade(
    'Fire Services',
    ['fire', 'services'],
    ['Hydrant and sprinkler installation', 'Penetration sealing'],
    ['Penetration not sealed', 'Sprinkler head painted over', 'Extinguisher sign missing'],
  ),
  trade(
    'Steel Fabrication',
    ['structure', 'high risk'],
    ['Structural steel erection', 'Site welding'],
    ['Weld not ground', 'Primer missing on bracket', 'Handrail loose'],
  ),
  trade(
    'Waterproofing',
    ['wet areas', 'envelope'],
    ['Membrane application in confined areas'],
    ['Membrane turn-up too low', 'Planter box leaks'],
  ),
  trade(
    'Demolition',
    ['early works', 'high risk'],
    ['Mechanical demolition', 'Removal of bonded asbestos'],
    ['Rubble left behind boundary wall'],
  ),
  trade(
    'Earthmoving',
    ['civil', 'early works'],
    ['Bulk excavation', 'Trench shoring', 'Mobile plant and pedestrians'],
    ['Silt fence down', 'Trench not backfilled to level'],
  ),
  trade(
    'Joinery',
    ['fit-out', 'finishes'],
    ['Installing kitchens and vanities'],
    ['Drawer runner noisy', 'Benchtop chipped', 'Kickboard gap'],
  ),
  trade(
    'Flooring',
    ['finishes', 'fit-out'],
    ['Floor grinding and levelling', 'Laying vinyl with adhesives'],
    ['Vinyl bubble in corridor', 'Board ends chipped', 'Carpet seam shows'],
  ),
];

/** SWMS of a builder's own company. */
export const COMPANY_SWMS = [
  'Site establishment',
  'Traffic management',
  'Crane and hoist operation',
  'Working at height',
];

export const COST_CODES: [code: string, description: string][] = [
  ['01-100', 'Site establishment'],
  ['01-200', 'Site supervision'],
  ['01-300', 'Temporary fencing and hoarding'],
  ['02-100', 'Demolition'],
  ['02-200', 'Bulk earthworks'],
  ['03-100', 'Formwork'],
  ['03-200', 'Concrete supply and place'],
  ['03-300', 'Reinforcement'],
  ['04-100', 'Masonry'],
  ['05-100', 'Structural steel'],
  ['06-100', 'Carpentry and framing'],
  ['07-100', 'Roofing and cladding'],
  ['07-200', 'Waterproofing'],
  ['08-100', 'Doors and windows'],
  ['09-100', 'Plasterboard and ceilings'],
  ['09-200', 'Painting'],
  ['10-100', 'Variations'],
  ['11-100', 'Defects and rectification'],
  ['12-100', 'Cleaning'],
];

/** The first is the usual one. */
export const TIME_TYPES = [
  'Ordinary time',
  'Overtime x 1.5',
  'Overtime x 2',
  'Rostered day off',
  'Travel',
  'Wet weather',
];

export const TIMESHEET_NOTES = [
  'Concrete pour, level 2',
  'Stripped formwork, north side',
  'Site clean-up before inspection',
  'Waited on crane until 9:30',
  'Helped the electricians with penetrations',
  'Rain from 2 pm',
  'Induction and toolbox talk first hour',
  'Moved to the other site after lunch',
];

export const REVIEW_COMMENTS = [
  'Approved for works up to the agreed value.',
  'Public liability cover is below the required amount.',
  'Please add the safety management plan.',
  'References checked.',
  'Licence has lapsed; send the renewed one.',
];

/** Tags that defects may be assigned to. */
export const DEFECT_TAGS = ['Client walk-through', 'Handover', 'Safety', 'Warranty'];

/** Meeting templates with their sections. */
export const MEETING_TEMPLATES = [
  {
    name: 'Site coordination',
    sections: ['Safety', 'Programme', 'Trades on site this week', 'Deliveries and cranage', 'Actions'],
  },
  { name: 'Toolbox talk', sections: ['Topic', 'Hazards raised', 'Actions'] },
  { name: 'Client progress', sections: ['Progress since last meeting', 'Variations', 'Quality', 'Risks'] },
];

export const MEETING_TITLES = [
  'Weekly site coordination',
  'Toolbox talk: working at height',
  'Client progress meeting',
  'Design and services coordination',
  'Pre-pour inspection',
  'Safety committee',
  'Subcontractor kick-off',
  'Defects walk-through',
  'Programme review',
];

export const SECTION_TEXTS = [
  'No incidents since the last meeting. Two near misses were reported and closed out.',
  'Level 3 slab pour is booked for Thursday, weather permitting. Formwork is one day ahead.',
  'Crane inspection is due. The hoist returns to service on Monday.',
  'Plasterers start on level 1 next week; access from the east stair only.',
  'Two variations were submitted and wait for the client.',
  'Switchboard delivery has moved to the 18th. No effect on the critical path.',
  'Housekeeping on the north scaffold needs attention before Friday.',
  'Façade sample approved. Shop drawings to follow.',
];

export const AGENDAS = [
  '1. Safety\n2. Programme\n3. Trades\n4. Other business',
  '1. Actions from last time\n2. Progress\n3. Variations\n4. Risks',
  'Walk the site, then review the open items.',
];

export const ACTIONS = [
  'Send the revised programme to all trades',
  'Confirm the crane booking',
  'Replace damaged edge protection on level 2',
  'Close out the open SWMS reviews',
  'Book the waterproofing inspection',
  'Issue the request for information on the riser',
];

export const LOCATIONS = [
  'Ground floor lobby',
  'Level 1 corridor',
  'Level 1 wet areas',
  'Level 2 east',
  'Level 2 west',
  'Level 3 plant room',
  'Roof',
  'Basement car park',
  'External works',
  'Stair 1',
  'Lift lobby',
  'Loading dock',
];

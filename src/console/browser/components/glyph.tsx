/** Outlines of the console's symbols in a box of 16 by 16. */
const PATHS = {
  today: 'M2.5 13.5V7l5.5-4.5L13.5 7v6.5h-4v-4h-3v4z',
  attendance: 'M2 4h7M2 8h11M2 12h6M11 3v2M14 7v2M10 11v2',
  timesheets: 'M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2zM8 4.8V8l2.3 1.6',
  inductions: 'M3.5 2.5h9v11h-9zM6 8.2l1.5 1.5L10.2 7M6 5h4',
  insurances: 'M8 2l5 1.8v4C13 11 10.8 13 8 14c-2.800-1-5-3-5-6.200v-4z',
  photos: 'M2 4.500h3l1-1.700h4l1 1.700h3v8.500H2zM8 6.300a2.300 2.300 0 1 1 0 4.600 2.300 2.300 0 0 1 0-4.600z',
  reports: 'M4 2h5.500L12.500 5v9H4zM9.500 2v3h3M6 8h4.500M6 10.700h4.500',
  integrations: 'M6 4V2M10 4V2M4.500 4h7v3a3.500 3.500 0 0 1-7 0zM8 10.500V14',
  people:
    'M6 7.500A2.500 2.500 0 1 0 6 2.500a2.500 2.500 0 0 0 0 5zM1.500 13.500c.3-2.800 2-4.200 4.500-4.200s4.200 1.400 4.500 4.200M10.500 2.800a2.300 2.300 0 0 1 0 4.400M12 9.700c1.500.5 2.300 1.900 2.500 3.800',
  audit: 'M3 3.500h10M3 8h10M3 12.500h6',
  explorer: 'M5.500 4L2 8l3.500 4M10.500 4L14 8l-3.500 4',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3.500 3.500l9 9M12.500 3.500l-9 9',
  light:
    'M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8 1.500v1M8 13.500v1M1.500 8h1M13.500 8h1M3.400 3.400l.7.7M11.900 11.900l.7.7M12.600 3.400l-.7.7M4.100 11.900l-.7.7',
  dark: 'M13.500 9.500A6 6 0 0 1 6.500 2.500a6 6 0 1 0 7 7z',
  alert: 'M8 2l6.500 11.500h-13zM8 6.500v3M8 11.600v.1',
  empty: 'M2.500 9l2-5.500h7l2 5.500v4.500h-11zM2.500 9H6l.8 1.500h2.400L10 9h3.500',
  previous: 'M10 3.500L5.500 8l4.500 4.500',
  next: 'M6 3.500L10.500 8 6 12.500',
  choose: 'M3.5 6l4.500 4.500L12.500 6',
  download: 'M8 2v8M4.800 7L8 10.200 11.200 7M2.500 13.500h11',
  offline:
    'M2 2l12 12M1.800 6.200c.9-.8 1.900-1.400 3-1.800M8 3.500c2.400 0 4.500 1 6.200 2.700M4.200 8.900c.7-.6 1.500-1 2.400-1.200M11.800 8.900l-.5-.4M8 12.500v.1',
  folder: 'M2 3.500h4l1.300 1.700H14v7.800H2z',
} as const;

export type GlyphName = keyof typeof PATHS;

export const Glyph = ({ name }: { name: GlyphName }) => (
  <svg className="glyph" viewBox="0 0 16 16" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

import { type GlyphName } from '../components/glyph.tsx';

export interface PageEntry {
  path: string;
  title: string;
  glyph: GlyphName;
  /** Pages of a builder's records are about the builder that is chosen at the top. */
  section: 'Builder' | 'Service';
  /** Action that the page needs: without it, the page is not listed. */
  action?: string;
  /** Whether the rows name people: a viewer sees a message instead, because the role may not read personal data. */
  personal?: true;
}

/** The page that is loaded as a document of its own, because only its policy allows the style elements of GraphiQL (CON-13). */
export const EXPLORER = '/explorer';

/** Pages in the order of the navigation. */
export const PAGES: readonly PageEntry[] = [
  { path: '/today', title: 'Today', glyph: 'today', section: 'Builder' },
  { path: '/attendance', title: 'Attendance', glyph: 'attendance', section: 'Builder', personal: true },
  { path: '/timesheets', title: 'Timesheets', glyph: 'timesheets', section: 'Builder', personal: true },
  { path: '/workers', title: 'Workers', glyph: 'workers', section: 'Builder', personal: true },
  { path: '/inductions', title: 'Inductions', glyph: 'inductions', section: 'Builder', personal: true },
  { path: '/insurances', title: 'Insurances', glyph: 'insurances', section: 'Builder' },
  { path: '/photos', title: 'Photos', glyph: 'photos', section: 'Builder' },
  { path: '/reports', title: 'Reports', glyph: 'reports', section: 'Builder', personal: true },
  { path: '/integrations', title: 'Integrations', glyph: 'integrations', section: 'Service' },
  { path: '/people', title: 'People', glyph: 'people', section: 'Service', action: 'person.read' },
  { path: '/audit', title: 'Audit log', glyph: 'audit', section: 'Service', action: 'audit.read' },
  { path: EXPLORER, title: 'Explorer', glyph: 'explorer', section: 'Service' },
];

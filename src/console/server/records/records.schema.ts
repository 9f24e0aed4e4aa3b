/** Arguments of every list of records. */
const LIST = 'order: ListOrder, offset: PageOffset, cursor: ListCursor, limit: PageLimit = 25';
const DAYS = 'firstDay: CalendarDate, lastDay: CalendarDate, timeZone: TimeZone';

/** Columns of indexes by which the lists of a builder are sorted. */
export const SORTS = {
  Timesheet: { DATE: 'date', CREATED: 'created_at' },
  Induction: { CREATED: 'created_at' },
  Insurance: { EXPIRY: 'expiry', CREATED: 'created_at' },
  PhotoReport: { CREATED: 'created_at' },
  Worker: { NAME: 'full_name', CREATED: 'created_at' },
} as const;

/** Lists of a builder's records for tables, and the search over all. */
export const recordTypes = /* GraphQL */ `
  ${Object.entries(SORTS)
    .map(([type, columns]) => `enum ${type}Sort { ${Object.keys(columns).join(' ')} }`)
    .join('\n')}

  enum MatchKind {
    PROJECT
    SUBCONTRACTOR
    WORKER
    USER
    INTEGRATOR
    CLIENT
    "A request that failed within the last seven days."
    REQUEST
  }

  "A record that a search has found."
  type Match {
    kind: MatchKind!
    id: ID!
    name: String!
    "What distinguishes records of one name."
    detail: String
    "Of a client or request; null for internal ones."
    integratorId: ID
  }

  extend type Query {
    """
    The first records of each kind by name, which have words that begin with those of the text, without accents and in any order: of
    projects, subcontractors and workers, those of the builder. Or the request with that id. People only for roles that may read personal data.
    """
    find(text: String!, builderId: BuilderId): [Match!]!
    "Timesheets of a builder. 'search' is the person; sorting applies to pages by offset."
    findTimesheets(builderId: BuilderId!, projectId: ProjectId, costCodeId: CostCodeId, status: TimesheetStatus, ${DAYS}, search: String, sort: TimesheetSort, ${LIST}): TimesheetPage!
    "Inductions of a builder. 'search' is the worker."
    findInductions(builderId: BuilderId!, projectId: ProjectId, status: InductionStatus, search: String, sort: InductionSort, ${LIST}): InductionPage!
    "Insurances of a builder's active subcontractors. 'search' is the subcontractor."
    findInsurances(builderId: BuilderId!, type: InsuranceType, status: InsuranceStatus, ${DAYS}, search: String, sort: InsuranceSort, ${LIST}): InsurancePage!
    "Photo reports of a builder. 'search' is the title."
    findPhotoReports(builderId: BuilderId!, projectId: ProjectId, archived: Boolean = false, search: String, sort: PhotoReportSort, ${LIST}): PhotoReportPage!
    "Workers of a builder's subcontractors. 'search' is the name, and 'id' one worker."
    findWorkers(builderId: BuilderId!, id: WorkerId, search: String, sort: WorkerSort, ${LIST}): WorkerPage!
  }
`;

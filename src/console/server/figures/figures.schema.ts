/** Points of charts. Days, weeks, months and hours of the day are those of the builder's time zone. */
export const figureTypes = /* GraphQL */ `
  "Hours of one week and status."
  type HoursByWeek {
    "Monday of the week."
    week: CalendarDate!
    status: TimesheetStatus!
    "Sum of the hours, to a ten-thousandth."
    hours: Float!
    "Number of timesheets."
    timesheets: Int!
  }

  "Hours of one project."
  type HoursByProject {
    project: ProjectSummary!
    hours: Float!
    timesheets: Int!
  }

  "Hours of one cost code."
  type HoursByCostCode {
    "Null for the timesheets without one."
    costCode: CostCode
    hours: Float!
    timesheets: Int!
  }

  "Attendance of one day."
  type AttendanceByDay {
    date: CalendarDate!
    "Visits that began on the day, without the archived ones."
    visits: Int!
    "Different workers of these visits."
    workers: Int!
  }

  "Sign-ons in one hour of a day."
  type SignOnsByHour {
    "Hour of the day, 0 to 23. Where clocks are put back, both hours of the same number count together."
    hour: Int!
    "Visits that began in the hour, without the archived ones."
    signOns: Int!
    "The same on that weekday, on average of those of the eight weeks before in which anybody signed on."
    typicalSignOns: Float!
  }

  "Workers on the site of one project."
  type WorkersOnSite {
    project: ProjectSummary!
    "Visits that began today and have not ended."
    onSite: Int!
    "Visits that began on an earlier day and have not ended."
    fromEarlierDays: Int!
  }

  "Inductions of one status."
  type InductionsByStatus {
    status: InductionStatus!
    inductions: Int!
  }

  "Insurances that end in one month."
  type InsurancesByMonth {
    "First day of the month."
    month: CalendarDate!
    "Insurances of active subcontractors."
    insurances: Int!
  }

  "How many records of attendance wait for a person."
  type AttendanceAwaitingAction {
    "Open conflicts, as listed by 'conflicts'."
    signOnConflicts: Int!
    pendingSignOffs: Int!
    openVisits: Int!
  }

  "How many records of a builder wait for a person."
  type ItemsAwaitingAction {
    "Open conflicts, as listed by 'conflicts'. Null without the scope read:attendance."
    signOnConflicts: Int
    "Total of Builder.pendingSignOffs. Null without the scope read:attendance."
    pendingSignOffs: Int
    "Total of Builder.rejectedSignOffs. Null without the scope read:attendance."
    rejectedSignOffs: Int
    "Total of 'timesheets' with the status WAITING_REVIEW."
    timesheets: Int!
    "Inductions with the status WAITING_REVIEW."
    inductions: Int!
    "Insurances of active subcontractors that end within 30 days from today."
    insurances: Int!
    "Webhook endpoints that receive the builder's events and have failed since their last success."
    failingWebhookEndpoints: Int!
  }

  extend type Query {
    "All visits that began on a day, of all projects or of one, without the archived ones; at most 5,000."
    visitsOfDay(builderId: BuilderId!, projectId: ProjectId, date: CalendarDate!): [SignOnVisit!]!
    "Hours by week and status, in at most 371 days. Both ends are included."
    hoursByWeek(builderId: BuilderId!, projectId: ProjectId, costCodeId: CostCodeId, status: TimesheetStatus, startDate: CalendarDate!, endDate: CalendarDate!): [HoursByWeek!]!
    "Hours by project in the order of their names, in at most 371 days."
    hoursByProject(builderId: BuilderId!, projectId: ProjectId, costCodeId: CostCodeId, status: TimesheetStatus, startDate: CalendarDate!, endDate: CalendarDate!): [HoursByProject!]!
    "Hours by cost code, in at most 371 days."
    hoursByCostCode(builderId: BuilderId!, projectId: ProjectId, costCodeId: CostCodeId, status: TimesheetStatus, startDate: CalendarDate!, endDate: CalendarDate!): [HoursByCostCode!]!
    "Visits of each day, in at most 93 days."
    attendanceByDay(builderId: BuilderId!, projectId: ProjectId, startDate: CalendarDate!, endDate: CalendarDate!): [AttendanceByDay!]!
    "Sign-ons of each hour of a day."
    signOnsByHour(builderId: BuilderId!, projectId: ProjectId, date: CalendarDate!): [SignOnsByHour!]!
    "When visits of a project usually end on a day: the median time of day of the sign-offs in the four weeks before. Null without any."
    usualEnd(builderId: BuilderId!, projectId: ProjectId!, date: CalendarDate!): Timestamp
    "Numbers of records of attendance that wait for a person, of all projects or of one."
    attendanceAwaitingAction(builderId: BuilderId!, projectId: ProjectId): AttendanceAwaitingAction!
    "Visits that have not ended, by project in the order of their names. Projects without any are left out."
    workersOnSite(builderId: BuilderId!): [WorkersOnSite!]!
    "All projects in progress in the order of creation, at most 10,000."
    projectsInProgress(builderId: BuilderId!): [ProjectSummary!]!
    "Inductions by status."
    inductionsByStatus(builderId: BuilderId!, projectId: ProjectId): [InductionsByStatus!]!
    "Insurances by the month in which they end, in at most 1,827 days."
    insurancesByMonth(builderId: BuilderId!, type: InsuranceType, status: InsuranceStatus, startDate: CalendarDate!, endDate: CalendarDate!): [InsurancesByMonth!]!
    "Numbers of records that wait for a person."
    itemsAwaitingAction(builderId: BuilderId!): ItemsAwaitingAction!
  }
`;

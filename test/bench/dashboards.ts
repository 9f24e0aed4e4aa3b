import { readFileSync } from 'node:fs';

/** The dashboard queries of docs/graphql.md by their names, and the same in the words of PostGraphile's schema. */
interface Dashboard {
  name: string;
  ours: (builderId: string) => Query;
  postgraphile: (builderId: string) => Query;
}

interface Query {
  query: string;
  variables: Record<string, string>;
}

const page = readFileSync(new URL('../../../docs/graphql.md', import.meta.url), 'utf8');

function shown(name: string): string {
  const query = new RegExp(`\`\`\`graphql\\n(query ${name}\\([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (!query) throw new Error(`docs/graphql.md shows no query ${name}.`);
  return query;
}

const OLDEST = 'orderBy: [CREATED_AT_ASC, PRIMARY_KEY_ASC], first: 25';

const POSTGRAPHILE = {
  Inductions: `query Inductions($builderId: String!) {
    projects: allProjects(condition: { builderId: $builderId, status: "IN_PROGRESS" }, ${OLDEST}) {
      totalCount
      data: nodes {
        name
        waiting: inductionsByProjectId(condition: { status: "WAITING_REVIEW" }, first: 1) { totalCount }
        inductions: inductionsByProjectId(condition: { status: "REVIEWED" }, ${OLDEST}) {
          totalCount
          data: nodes {
            identifier
            worker: workerByWorkerId {
              fullName
              siteAccess: siteAccessesByWorkerId(orderBy: [GRANTED_AT_ASC, PRIMARY_KEY_ASC], first: 25) {
                totalCount
                data: nodes { project: projectByProjectId { name } grantedAt revokedAt }
              }
            }
            subcontractor: subcontractorBySubcontractorId { name }
          }
        }
      }
    }
  }`,
  Waiting: `query Waiting($builderId: String!) {
    projects: allProjects(condition: { builderId: $builderId, status: "IN_PROGRESS" }, ${OLDEST}) {
      totalCount
      data: nodes {
        name
        timesheets: timesheetsByProjectId(condition: { status: "WAITING_REVIEW" }, ${OLDEST}) {
          totalCount
          data: nodes {
            date
            hours
            costCode: timesheetCostCodeByCostCodeId { code description }
            timeType: timesheetTimeTypeByTimeTypeId { name }
            profile: personProfileByProfileId { fullName }
          }
        }
      }
    }
  }`,
  // A range is no condition that PostGraphile offers by itself: a function of the database is its own way to add one.
  Expiring: `query Expiring($builderId: String!, $from: Datetime!, $until: Datetime!) {
    insurances: expiringInsurances(builder: $builderId, endsAfter: $from, endsBefore: $until, first: 25) {
      totalCount
      data: nodes {
        type
        name
        expiry
        subcontractor: subcontractorBySubcontractorId {
          name
          contacts: contactsBySubcontractorId(condition: { isPrimary: true }, ${OLDEST}) { totalCount data: nodes { name email phone } }
        }
      }
    }
  }`,
};

/** What PostGraphile serves the third dashboard from. */
export const EXPIRING_INSURANCES = `
  create function expiring_insurances(builder text, ends_after timestamptz, ends_before timestamptz) returns setof insurance
  language sql stable as $$
    select i.* from insurance i join subcontractor s on s.id = i.subcontractor_id
    where i.builder_id = builder and s.archived_at is null and i.expiry >= ends_after and i.expiry < ends_before
    order by i.created_at, i.id
  $$`;

export const dashboards: Dashboard[] = Object.entries(POSTGRAPHILE).map(([name, query]) => {
  const range: Record<string, string> =
    name === 'Expiring' ? { from: '2025-03-01T00:00:00.000Z', until: '2025-03-31T00:00:00.000Z' } : {};
  return {
    name,
    ours: (builderId) => ({ query: shown(name), variables: { builderId, ...range } }),
    postgraphile: (builderId) => ({ query, variables: { builderId, ...range } }),
  };
});

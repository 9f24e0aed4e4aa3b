import { readFileSync } from 'node:fs';

/** A dashboard query of docs/graphql.md, and the equivalent query for PostGraphile's schema. */
interface Dashboard {
  name: string;
  createQuery: (builderId: string) => GraphqlRequest;
  createPostgraphileQuery: (builderId: string) => GraphqlRequest;
}

interface GraphqlRequest {
  query: string;
  variables: Record<string, string>;
}

const page = readFileSync(new URL('../../../docs/graphql.md', import.meta.url), 'utf8');

/** Returns the query of that name in docs/graphql.md. */
function readDocumentedQuery(name: string): string {
  const query = new RegExp(`\`\`\`graphql\\n(query ${name}\\([\\s\\S]*?)\`\`\``).exec(page)?.[1];
  if (!query) throw new Error(`docs/graphql.md contains no query ${name}.`);
  return query;
}

const OLDEST_FIRST = 'orderBy: [CREATED_AT_ASC, PRIMARY_KEY_ASC], first: 25';

const POSTGRAPHILE_QUERIES = {
  Inductions: `query Inductions($builderId: String!) {
    projects: allProjects(condition: { builderId: $builderId, status: "IN_PROGRESS" }, ${OLDEST_FIRST}) {
      totalCount
      data: nodes {
        name
        waiting: inductionsByProjectId(condition: { status: "WAITING_REVIEW" }, first: 1) { totalCount }
        inductions: inductionsByProjectId(condition: { status: "REVIEWED" }, ${OLDEST_FIRST}) {
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
    projects: allProjects(condition: { builderId: $builderId, status: "IN_PROGRESS" }, ${OLDEST_FIRST}) {
      totalCount
      data: nodes {
        name
        timesheets: timesheetsByProjectId(condition: { status: "WAITING_REVIEW" }, ${OLDEST_FIRST}) {
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
  // PostGraphile has no range conditions by default; a database function adds one.
  Expiring: `query Expiring($builderId: String!, $from: Datetime!, $until: Datetime!) {
    insurances: expiringInsurances(builder: $builderId, endsAfter: $from, endsBefore: $until, first: 25) {
      totalCount
      data: nodes {
        type
        name
        expiry
        subcontractor: subcontractorBySubcontractorId {
          name
          contacts: contactsBySubcontractorId(condition: { isPrimary: true }, ${OLDEST_FIRST}) { totalCount data: nodes { name email phone } }
        }
      }
    }
  }`,
};

/** Database function that PostGraphile needs for the third dashboard. */
export const EXPIRING_INSURANCES = `
  create function expiring_insurances(builder text, ends_after timestamptz, ends_before timestamptz) returns setof insurance
  language sql stable as $$
    select i.* from insurance i join subcontractor s on s.id = i.subcontractor_id
    where i.builder_id = builder and s.archived_at is null and i.expiry >= ends_after and i.expiry < ends_before
    order by i.created_at, i.id
  $$`;

export const dashboards: Dashboard[] = Object.entries(POSTGRAPHILE_QUERIES).map(([name, query]) => {
  const range: Record<string, string> =
    name === 'Expiring' ? { from: '2025-03-01T00:00:00.000Z', until: '2025-03-31T00:00:00.000Z' } : {};
  return {
    name,
    createQuery: (builderId) => ({ query: readDocumentedQuery(name), variables: { builderId, ...range } }),
    createPostgraphileQuery: (builderId) => ({ query, variables: { builderId, ...range } }),
  };
});

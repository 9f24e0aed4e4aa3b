import { Link } from 'react-router';
import { BuilderName } from '../../components/builder-picker.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { BuilderFilter, DayFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { type AuditActorType, AuditDocument, type AuditQuery } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { addDays, formatEnum, formatPlural } from '../../shared/format.ts';
import { fromLocalInput } from '../../shared/local-time.ts';
import { useScope } from '../../shared/scope.tsx';

type Entry = AuditQuery['audit']['data'][number];

interface Row extends Entry {
  /** Ids of the records of the reads that follow, by the same person. */
  others: string[];
}

/** Returns the entries, with consecutive reads of personal data by one person in one row: a page of a list makes one for each of its people. */
function groupReads(entries: readonly Entry[]): Row[] {
  const rows: Row[] = [];
  for (const entry of entries) {
    const last = rows.at(-1);
    if (entry.action === 'person.read' && last?.action === entry.action && last.actorId === entry.actorId)
      last.others.push(entry.objectId);
    else rows.push({ ...entry, others: [] });
  }
  return rows;
}

const ACTORS = ['OPERATOR', 'STAFF', 'USER', 'CLIENT', 'JOB', 'IMPORT'] as const satisfies AuditActorType[];

/** Who did what, when and from where. */
export default function AuditPage() {
  const { timeZone } = useScope();
  const filters = useFilters();
  const [from, until] = [filters.get('from'), filters.get('until')];
  const request = useRequest(AuditDocument, {
    action: filters.get('action'),
    actorType: filters.get('actor') as AuditActorType | undefined,
    builderId: filters.get('of'),
    since: from && fromLocalInput(`${from}T00:00`, timeZone),
    until: until && fromLocalInput(`${addDays(until, 1)}T00:00`, timeZone),
    after: filters.get('after') ?? null,
  });
  return (
    <ListPage
      title="Audit log"
      description="Who did what, when and from where"
      filters={
        <>
          <SelectFilter
            name="action"
            label="Action"
            options={(request.data?.auditActions ?? []).map(
              ({ action, description }) => [action, withoutStop(description)] as const,
            )}
          />
          <SelectFilter name="actor" label="By" options={ACTORS} all="Anybody" />
          <BuilderFilter />
          <DayFilter name="from" label="From" />
          <DayFilter name="until" label="Until" />
        </>
      }
      request={request}
      page={({ audit: { data, meta } }) => ({ data: groupReads(data), meta })}
      empty="No entries match"
      opens="entry"
      pagerTexts={['Newest', 'Older']}
      columns={[
        { header: 'What', cell: ({ description }) => withoutStop(description) },
        {
          header: 'Object',
          cell: ({ objectId, others }) =>
            others.length > 0 ? formatPlural(others.length + 1, 'record') : <code className="wrap">{objectId}</code>,
        },
        {
          header: 'By',
          cell: ({ actorName, actorId, actorType }) => (
            <span className="wrap">
              {actorName ?? actorId} <span className="soft">{formatEnum(actorType)}</span>
            </span>
          ),
        },
        { header: 'When', cell: ({ at }) => <Instant at={at} /> },
      ]}
      drawer={(_, close, entry) => entry && <EntryDrawer entry={entry} onClose={close} />}
    />
  );
}

/** Descriptions of actions are sentences; lists show them without the full stop. */
const withoutStop = (text: string) => text.replace(/\.$/, '');

const format = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function EntryDrawer({ entry, onClose }: { entry: Row; onClose: () => void }) {
  const address = useAddress();
  const isUser = entry.objectType === 'user';
  const id = <code>{entry.objectId}</code>;
  const object = isUser ? <Link to={address('/people', { person: entry.objectId })}>{id}</Link> : id;
  const [before, after] = [toRecord(entry.before), toRecord(entry.after)];
  const properties = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return (
    <Drawer title={withoutStop(entry.description)} onClose={onClose}>
      <Facts
        facts={[
          ['When', <Instant key="at" at={entry.at} />],
          ['Action', <code key="action">{entry.action}</code>],
          ['Object', object],
          ['Also', entry.others.length > 0 && <code key="others">{entry.others.join(', ')}</code>],
          ['Builder', entry.builderId && <BuilderName key="builder" id={entry.builderId} />],
          ['By', entry.actorName ?? entry.actorId],
          ['As', formatEnum(entry.actorType)],
          ...Object.entries(toRecord(entry.origin)).map(([name, value]) => [name, format(value)] as const),
        ]}
      />
      {properties.length > 0 && (
        <DataTable
          name="Changed properties"
          rows={properties}
          rowKey={(property) => property}
          columns={[
            { header: 'Property', cell: (property) => property },
            { header: 'Before', cell: (property) => <code className="wrap">{format(before[property]) ?? '–'}</code> },
            { header: 'After', cell: (property) => <code className="wrap">{format(after[property]) ?? '–'}</code> },
          ]}
        />
      )}
    </Drawer>
  );
}

const toRecord = (value: unknown): Record<string, unknown> => (value ?? {}) as Record<string, unknown>;

import { Fragment, type ReactNode } from 'react';
import { Link } from 'react-router';
import { BuilderName } from '../../components/builder-picker.tsx';
import { Button } from '../../components/button.tsx';
import { Identifier } from '../../components/copy.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { BuilderFilter, DayFilter, SelectFilter } from '../../components/filters.tsx';
import { ListPage } from '../../components/list-page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { type AuditActorType, AuditDocument, type AuditQuery } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { addDays, formatName, formatPlural } from '../../shared/format.ts';
import { fromLocalInput } from '../../shared/local-time.ts';
import { useScope } from '../../shared/scope.tsx';
import { RecordName } from './record-name.tsx';

type Entry = AuditQuery['audit']['data'][number];

const READ = 'person.read';

const ACTORS: Record<AuditActorType, string> = {
  STAFF: 'Staff',
  USER: 'User',
  CLIENT: 'Application',
  OPERATOR: 'Command line',
  JOB: 'Background job',
  IMPORT: 'Import',
};

/** Who changed what, and who read personal data, when and from where. The parameters `at` and `by` are those of one response. */
export default function AuditPage() {
  const { timeZone } = useScope();
  const filters = useFilters();
  const [from, until, at, objectId] = ['from', 'until', 'at', 'object'].map(filters.get);
  const isReads = filters.get('show') === 'reads';
  const period = at
    ? { since: at, until: new Date(Date.parse(at) + 1).toISOString() }
    : {
        since: from && fromLocalInput(`${from}T00:00`, timeZone),
        until: until && fromLocalInput(`${addDays(until, 1)}T00:00`, timeZone),
      };
  const request = useRequest(AuditDocument, {
    reads: at ? undefined : isReads,
    action: isReads ? undefined : filters.get('action'),
    objectId,
    actorId: filters.get('by'),
    actorType: filters.get('actor') as AuditActorType | undefined,
    builderId: filters.get('of'),
    ...period,
    after: filters.get('after') ?? null,
  });
  const actions = (request.data?.auditActions ?? []).filter(({ action }) => action !== READ);
  return (
    <ListPage
      title="Audit log"
      description={objectId || at ? 'Some entries' : 'Who did what, when and from where'}
      filters={
        <>
          {(objectId || at) && (
            <Button onClick={() => filters.set({ object: null, at: null, by: null })}>All entries</Button>
          )}
          {!isReads && (
            <SelectFilter
              name="action"
              label="Action"
              options={actions.map(({ action, description }) => [action, withoutStop(description)] as const)}
            />
          )}
          <SelectFilter name="actor" label="By" options={Object.entries(ACTORS)} all="Anybody" />
          <BuilderFilter />
          <DayFilter name="from" label="From" />
          <DayFilter name="until" label="Until" />
        </>
      }
      request={request}
      page={({ audit }) => audit}
      empty="No entries match"
      opens={isReads ? undefined : 'entry'}
      columns={[
        ...(isReads ? READ_COLUMNS : CHANGE_COLUMNS),
        { header: 'By', cell: (entry) => <Actor entry={entry} /> },
        { header: 'When', cell: (entry) => <Instant at={entry.at} /> },
      ]}
      drawer={(_, close, entry) => entry && <EntryDrawer entry={entry} onClose={close} />}
    >
      <Tabs label="Entries" name="show" tabs={TABS} />
    </ListPage>
  );
}

const TABS = [
  ['', 'Changes'],
  ['reads', 'Reads of personal data'],
] as const;

const CHANGE_COLUMNS = [
  { header: 'What', cell: ({ description }: Entry) => withoutStop(description) },
  { header: 'Record', cell: (entry: Entry) => <RecordNames entry={entry} /> },
];

const READ_COLUMNS = [
  {
    header: 'Of',
    cell: (entry: Entry) => (entry.records > 1 ? <ReadsLink {...entry} /> : <RecordNames entry={entry} />),
  },
  { header: 'Data', cell: ({ after }: Entry) => (toRecord(after).categories as string[]).map(formatName).join(', ') },
];

/** Descriptions of actions are sentences; lists show them without the full stop. */
const withoutStop = (text: string) => text.replace(/\.$/, '');

/** Leads to the reads of a response, each by itself. */
function ReadsLink({ records, at, actorId }: Entry) {
  const address = useAddress();
  return <Link to={address('/audit', { show: 'reads', at, by: actorId })}>{formatPlural(records, 'record')}</Link>;
}

/** The records that an entry is about: of a connection, the integrator and the builder. */
const RecordNames = ({ entry }: { entry: Entry }) =>
  entry.objectId.split('/').map((id, index) => (
    <Fragment key={id}>
      {index > 0 && ' · '}
      <RecordName id={id} entry={entry} />
    </Fragment>
  ));

const Actor = ({ entry }: { entry: Entry }) => (
  <span className="wrap">
    {entry.actorId && <RecordName id={entry.actorId} entry={entry} />}{' '}
    <span className="soft">{ACTORS[entry.actorType]}</span>
  </span>
);

function EntryDrawer({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const [before, after] = [toRecord(entry.before), toRecord(entry.after)];
  const properties = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const { requestId, ...origin } = toRecord(entry.origin) as Record<string, string>;
  return (
    <Drawer title={withoutStop(entry.description)} onClose={onClose}>
      <Facts
        facts={[
          ['When', <Instant key="at" at={entry.at} />],
          ['By', <Actor key="by" entry={entry} />],
          ['Record', <RecordNames key="record" entry={entry} />],
          ['Builder', entry.builderId && <BuilderName key="builder" id={entry.builderId} />],
          ...Object.entries(origin).map(([name, value]) => [formatName(name), value] as const),
          ['Request id', requestId && <Identifier key="request" id={requestId} />],
        ]}
      />
      {properties.length > 0 && (
        <DataTable
          name="Changed properties"
          rows={properties}
          rowKey={(name) => name}
          columns={[
            { header: 'Property', cell: formatName },
            { header: 'Before', cell: (name) => <Value value={before[name]} other={after[name]} entry={entry} /> },
            { header: 'After', cell: (name) => <Value value={after[name]} other={before[name]} entry={entry} /> },
          ]}
        />
      )}
    </Drawer>
  );
}

interface ValueProps {
  value: unknown;
  /** The value on the other side of the change. */
  other?: unknown;
  entry: Entry;
}

/** A value of a property, with names in place of ids. Members of a list that both sides have are only counted. */
function Value({ value, other, entry }: ValueProps): ReactNode {
  if (Array.isArray(value)) {
    const own = value.filter((member) => !Array.isArray(other) || !other.includes(member));
    const same = value.length - own.length;
    return (
      <ul>
        {own.map((member) => (
          <li key={String(member)}>
            <Value value={member} entry={entry} />
          </li>
        ))}
        {(same > 0 || value.length === 0) && <li className="soft">{same > 0 ? `${same} the same` : 'none'}</li>}
      </ul>
    );
  }
  if (value === null || value === undefined) return '–';
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value !== 'string') return <code className="wrap">{JSON.stringify(value)}</code>;
  return /^\d{4}-\d{2}-\d{2}T/.test(value) ? <Instant at={value} /> : <RecordName id={value} entry={entry} />;
}

const toRecord = (value: unknown): Record<string, unknown> => (value ?? {}) as Record<string, unknown>;

import { Link } from 'react-router';
import { BuilderName } from '../../components/builder-name.tsx';
import { BuilderFilter } from '../../components/builder-picker.tsx';
import { CursorPager } from '../../components/cursor-pager.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Drawer } from '../../components/drawer.tsx';
import { Facts, Instant } from '../../components/facts.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { DayFilter, SelectFilter } from '../../components/select-filter.tsx';
import { Empty, Loaded } from '../../components/states.tsx';
import { type AuditActorType, AuditDocument, type AuditQuery } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useAddress, useFilters } from '../../shared/filters.ts';
import { addDays, formatEnum, formatPlural } from '../../shared/format.ts';
import { fromLocalInput } from '../../shared/local-time.ts';
import { useScope } from '../../shared/scope.tsx';

type Entry = AuditQuery['audit']['data'][number];

interface Row extends Entry {
  /** Ids of the records of equal entries that follow. */
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

/** Who changed which access, when and from where. */
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
  const opened = filters.get('entry');
  return (
    <>
      <PageHead title="Audit log" description="Who changed which access, when and from where">
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
      </PageHead>
      <section className="panel" aria-label="Audit log">
        <Loaded request={request} lines={14}>
          {({ audit: { data, meta } }) => {
            const entry = groupReads(data).find(({ id }) => id === opened);
            return (
              <>
                <DataTable
                  caption="Audit log"
                  empty={<Empty title="No entries match" />}
                  rows={groupReads(data)}
                  rowKey={({ id }) => id}
                  selected={opened}
                  onOpen={({ id }) => filters.set({ entry: id })}
                  columns={[
                    { header: 'What', cell: ({ description }) => withoutStop(description) },
                    {
                      header: 'Object',
                      cell: ({ objectId, others }) =>
                        others.length > 0 ? (
                          formatPlural(others.length + 1, 'record')
                        ) : (
                          <code className="wrap">{objectId}</code>
                        ),
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
                />
                <CursorPager next={meta.nextCursor} label="Pages" texts={['Newest', 'Older']} />
                {entry && <EntryDrawer entry={entry} onClose={() => filters.set({ entry: null })} />}
              </>
            );
          }}
        </Loaded>
      </section>
    </>
  );
}

/** Descriptions of actions are sentences; lists show them without the full stop. */
const withoutStop = (text: string) => text.replace(/\.$/, '');

const format = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function EntryDrawer({ entry, onClose }: { entry: Row; onClose: () => void }) {
  const address = useAddress();
  const [before, after] = [toRecord(entry.before), toRecord(entry.after)];
  const properties = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return (
    <Drawer title={withoutStop(entry.description)} onClose={onClose}>
      <Facts
        facts={[
          ['When', <Instant key="at" at={entry.at} />],
          ['Action', <code key="action">{entry.action}</code>],
          [
            'Object',
            entry.objectType === 'user' ? (
              <Link key="object" to={address('/people', { person: entry.objectId })}>
                <code>{entry.objectId}</code>
              </Link>
            ) : (
              <code key="object">{entry.objectId}</code>
            ),
          ],
          ['Also', entry.others.length > 0 && <code key="others">{entry.others.join(', ')}</code>],
          ['Builder', entry.builderId && <BuilderName key="builder" id={entry.builderId} />],
          ['By', entry.actorName ?? entry.actorId],
          ['As', formatEnum(entry.actorType)],
          ...Object.entries(toRecord(entry.origin)).map(([name, value]) => [name, format(value)] as const),
        ]}
      />
      {properties.length > 0 && (
        <DataTable
          caption="Changed properties"
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

import { Empty, Loaded } from '../../components/states.tsx';
import { BoardDocument, ProjectChoiceDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { addDays, formatCalendarDay, formatPlural, toCalendarDate } from '../../shared/format.ts';
import { useBuilder, useScope } from '../../shared/scope.tsx';
import { useNow } from '../../shared/use-now.ts';
import { Board } from './board.tsx';
import { toBoardRows } from './board-rows.ts';
import { ConflictDrawer } from './conflict-drawer.tsx';
import { ConflictList } from './conflict-list.tsx';
import { PendingDrawer } from './pending-drawer.tsx';
import { PendingList } from './pending-list.tsx';
import { VisitDrawer } from './visit-drawer.tsx';

export default function AttendancePage() {
  const builder = useBuilder();
  const filters = useFilters();
  const { me } = useScope();
  const projects = useRequest(ProjectChoiceDocument, { builderId: builder.id });
  if (!me.scopes.includes('read:attendance'))
    return <Empty title="Your role does not read attendance">Operators and administrators do.</Empty>;
  if (filters.get('show') === 'conflicts') return <ConflictList />;
  if (filters.get('show') === 'pending') return <PendingList />;
  return (
    <Loaded request={projects}>
      {({ projects: { data } }) => {
        const project = data.find(({ id }) => id === filters.get('project')) ?? data[0];
        if (!project) return <Empty title="No project is in progress" />;
        return <ProjectDay projects={data} project={project} />;
      }}
    </Loaded>
  );
}

interface Choice {
  id: string;
  name: string;
}

function ProjectDay({ projects, project }: { projects: readonly Choice[]; project: Choice }) {
  const { timeZone } = useScope();
  const { id: builderId } = useBuilder();
  const filters = useFilters();
  const now = useNow();
  const today = toCalendarDate(now, timeZone);
  const date = filters.get('date') ?? today;
  const request = useRequest(BoardDocument, { builderId, projectId: project.id, date, timeZone }, { live: true });
  const setDate = (next: string) => filters.set({ date: next === today ? null : next });
  return (
    <>
      <div className="page-head">
        <div>
          <h1>Attendance</h1>
          <p>
            {formatCalendarDay(date)}, {timeZone.replaceAll('_', ' ')} time
          </p>
        </div>
        <div className="filters">
          <label className="field">
            Project
            <select value={project.id} onChange={({ target }) => filters.set({ project: target.value })}>
              {projects.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            Day
            <input
              type="date"
              value={date}
              max={today}
              onChange={({ target }) => target.value && setDate(target.value)}
            />
          </label>
          <div className="actions">
            <button type="button" onClick={() => setDate(addDays(date, -1))} aria-label="Previous day">
              ‹
            </button>
            <button
              type="button"
              onClick={() => setDate(addDays(date, 1))}
              disabled={date >= today}
              aria-label="Next day"
            >
              ›
            </button>
            <button type="button" onClick={() => setDate(today)} disabled={date === today}>
              Today
            </button>
          </div>
        </div>
      </div>
      <Loaded request={request} lines={14}>
        {(data) => {
          const rows = toBoardRows(data, date, timeZone);
          const visits = rows.flatMap((row) => row.visits);
          const total = data.project.first.meta.totalCount;
          const close = () => filters.set({ visit: null, conflict: null, pending: null });
          const visit = visits.find(({ id }) => id === filters.get('visit'));
          const pending = rows.flatMap((row) => row.pending).find(({ id }) => id === filters.get('pending'));
          const conflictId = filters.get('conflict');
          return (
            <>
              <Board rows={rows} date={date} now={now} />
              {total > visits.length && (
                <p className="notice warn">
                  The board shows the first {visits.length} of {formatPlural(total, 'visit')} of the day.
                </p>
              )}
              {visit && <VisitDrawer key={visit.updatedAt} visit={visit} now={now} onClose={close} />}
              {pending && <PendingDrawer event={pending} onClose={close} />}
              {conflictId && <ConflictDrawer id={conflictId} onClose={close} />}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

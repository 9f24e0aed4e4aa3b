import { Button } from '../../components/button.tsx';
import { ChosenProject } from '../../components/chosen-project.tsx';
import { DayFilter, ProjectFilter } from '../../components/filters.tsx';
import { PageHead } from '../../components/page.tsx';
import { Loaded } from '../../components/states.tsx';
import { BoardDocument } from '../../graphql/generated.ts';
import type { ProjectChoice } from '../../graphql/use-projects.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { addDays, formatCalendarDay, formatTimeZone, toCalendarDate } from '../../shared/format.ts';
import { fromLocalInput } from '../../shared/local-time.ts';
import { useBuilder } from '../../shared/scope.tsx';
import { useNow } from '../../shared/use-now.ts';
import { AttendanceTabs } from './attendance-tabs.tsx';
import { Board } from './board.tsx';
import { toBoardRows } from './board-rows.ts';
import { ConflictDrawer } from './conflict-drawer.tsx';
import { ConflictList, OpenVisitList, PendingList, VisitList } from './lists.tsx';
import { PendingDrawer } from './pending-drawer.tsx';
import { VisitDrawer } from './visit-drawer.tsx';

/** Lists of all projects, by the parameter `show`. */
const LISTS = new Map([
  ['visits', VisitList],
  ['conflicts', ConflictList],
  ['pending', PendingList],
  ['open', OpenVisitList],
]);

export default function AttendancePage() {
  const List = LISTS.get(useFilters().get('show') ?? '');
  if (List) return <List />;
  return <ChosenProject title="Attendance">{(project) => <ProjectDay project={project} />}</ChosenProject>;
}

function ProjectDay({ project }: { project: ProjectChoice }) {
  const { id: builderId, timeZone } = useBuilder();
  const filters = useFilters();
  const now = useNow();
  const today = toCalendarDate(now, timeZone);
  const date = filters.get('date') ?? today;
  const [since, until] = [date, addDays(date, 1)].map((each) => fromLocalInput(`${each}T00:00`, timeZone));
  const variables = { builderId, projectId: project.id, date, timeZone, since: since!, until: until! };
  const request = useRequest(BoardDocument, variables, { live: true });
  const setDate = (next: string) => filters.set({ date: next === today ? null : next });
  return (
    <>
      <PageHead title="Attendance" description={`${formatCalendarDay(date)}, ${formatTimeZone(timeZone)}`}>
        <ProjectFilter fallback={project.id} />
        <DayFilter name="date" label="Day" fallback={today} max={today} />
        <div className="actions">
          <Button onClick={() => setDate(addDays(date, -1))} aria-label="Previous day">
            ‹
          </Button>
          <Button onClick={() => setDate(addDays(date, 1))} disabled={date >= today} aria-label="Next day">
            ›
          </Button>
          <Button onClick={() => setDate(today)} disabled={date === today}>
            Today
          </Button>
        </div>
      </PageHead>
      <AttendanceTabs />
      <Loaded request={request} lines={14}>
        {(data) => {
          const rows = toBoardRows(data);
          const close = () => filters.set({ visit: null, conflict: null, pending: null });
          const visit = data.visitsOfDay.find(({ id }) => id === filters.get('visit'));
          const pending = rows.flatMap((row) => row.pending);
          const opened = pending.find(({ id }) => id === filters.get('pending'));
          const conflictId = filters.get('conflict');
          return (
            <>
              <Board rows={rows} date={date} now={now} />
              {(data.project.pending.meta.totalCount > pending.length || data.conflicts.meta.nextCursor) && (
                <p className="notice" role="status">
                  The day has more sign-offs without sign-on or conflicts than the board shows. The lists have all.
                </p>
              )}
              {visit && <VisitDrawer key={visit.id} visit={visit} onClose={close} onChanged={request.retry} />}
              {opened && <PendingDrawer key={opened.id} event={opened} onClose={close} onChanged={request.retry} />}
              {conflictId && <ConflictDrawer id={conflictId} onClose={close} others={data.conflicts.data} />}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

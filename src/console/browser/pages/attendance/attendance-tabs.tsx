import { Tabs } from '../../components/tabs.tsx';
import { AttendanceCountsDocument } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { useFilters } from '../../shared/filters.ts';
import { useBuilder } from '../../shared/scope.tsx';

/** The board and the lists of attendance, of the project in the URL or of all, with what waits in each. */
export function AttendanceTabs() {
  const { id: builderId } = useBuilder();
  const project = useFilters().get('project');
  const { data } = useRequest(AttendanceCountsDocument, { builderId, projectId: project }, { live: true });
  const counts = data?.attendanceAwaitingAction;
  return (
    <Tabs
      label="Attendance"
      name="show"
      kept={{ project }}
      tabs={[
        ['', 'Board'],
        ['visits', 'Visits'],
        ['conflicts', 'Conflicts', counts?.signOnConflicts, 'bad'],
        ['pending', 'Sign-offs without sign-on', counts?.pendingSignOffs, 'warn'],
        ['open', 'Open visits', counts?.openVisits],
      ]}
    />
  );
}

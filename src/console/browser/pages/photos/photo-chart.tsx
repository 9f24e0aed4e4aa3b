import { ChartPanel } from '../../components/chart-panel.tsx';
import { Loaded } from '../../components/states.tsx';
import { PhotoFiguresDocument, type PhotoSource } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { formatEnum, formatShortDay, listDaysUntil, toCalendarDate } from '../../shared/format.ts';
import { useScope } from '../../shared/scope.tsx';

const DAYS = 30;
/** Areas with a series of their own; the others are summed, because more colours cannot be told apart. */
const OWN_SERIES = 5;

/** Photos added by day and area. */
export function PhotoChart({ builderId, projectId }: { builderId: string; projectId: string }) {
  const { timeZone } = useScope();
  const until = toCalendarDate(Date.now(), timeZone);
  const days = listDaysUntil(until, DAYS);
  const request = useRequest(PhotoFiguresDocument, { builderId, projectId, from: days[0]!, until }, { live: true });
  return (
    <Loaded request={request} lines={4}>
      {({ photosByDay }) => {
        const totals = new Map<PhotoSource, number>();
        for (const { source, photos } of photosByDay) totals.set(source, (totals.get(source) ?? 0) + photos);
        const ranked = [...totals.keys()].sort((a, b) => totals.get(b)! - totals.get(a)!);
        const valuesOf = (sources: readonly PhotoSource[]) =>
          days.map((day) =>
            photosByDay
              .filter(({ date, source }) => date === day && sources.includes(source))
              .reduce((sum, { photos }) => sum + photos, 0),
          );
        const others = ranked.slice(OWN_SERIES);
        const series = ranked
          .slice(0, OWN_SERIES)
          .map((source) => ({ name: formatEnum(source), values: valuesOf([source]) }));
        if (others.length > 0) series.push({ name: 'Others', values: valuesOf(others) });
        if (series.length === 0) return null;
        return (
          <ChartPanel
            heading="Photos by day"
            title="Photos by day and area"
            labelHeader="Day"
            unit="Photos"
            labels={days.map(formatShortDay)}
            series={series}
            height={130}
          />
        );
      }}
    </Loaded>
  );
}

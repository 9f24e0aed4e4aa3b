import { ChartPanel } from '../../components/bar-chart.tsx';
import { Loaded } from '../../components/states.tsx';
import { PhotoFiguresDocument, type PhotoSource } from '../../graphql/generated.ts';
import { useRequest } from '../../graphql/use-request.ts';
import { formatEnum, formatShortDay, listDaysUntil, sum, toCalendarDate } from '../../shared/format.ts';
import { useBuilder } from '../../shared/scope.tsx';

const DAYS = 30;
/** Areas with a series of their own; the others are summed, because more colours cannot be told apart. */
const OWN_SERIES = 5;

/** Photos added by day and area. */
export function PhotoChart({ projectId }: { projectId: string }) {
  const { id: builderId, timeZone } = useBuilder();
  const until = toCalendarDate(Date.now(), timeZone);
  const days = listDaysUntil(until, DAYS);
  const request = useRequest(PhotoFiguresDocument, { builderId, projectId, from: days[0]!, until }, { live: true });
  return (
    <Loaded request={request} lines={4}>
      {({ photosByDay }) => {
        const countPhotos = (chosen: readonly PhotoSource[], points = photosByDay) =>
          sum(points.filter(({ source }) => chosen.includes(source)).map(({ photos }) => photos));
        const pointsByDay = days.map((day) => photosByDay.filter(({ date }) => date === day));
        const valuesOf = (chosen: readonly PhotoSource[]) => pointsByDay.map((points) => countPhotos(chosen, points));
        const sources = [...new Set(photosByDay.map(({ source }) => source))];
        const ranked = sources.sort((a, b) => countPhotos([b]) - countPhotos([a]));
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

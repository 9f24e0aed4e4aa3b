import type { CSSProperties, ReactNode } from 'react';
import { Link } from 'react-router';
import { formatNumber, sum } from '../shared/format.ts';
import { DataTable } from './data-table.tsx';
import { Panel } from './page.tsx';
import type { Tone } from './status-badge.tsx';

interface Series {
  name: string;
  values: readonly number[];
  tone?: Tone;
  /** A mark across each bar, for figures to compare with. */
  isMark?: boolean;
}

interface ChartProps {
  heading: string;
  /** A summary beside the heading. */
  summary?: ReactNode;
  /** What the chart shows, for screen readers and as caption of its table. */
  title: string;
  /** Header of the labels in the table, such as `Week`. */
  labelHeader: string;
  labels: readonly string[];
  /** Bars are stacked in this order, from the bottom. */
  series: readonly Series[];
  /** What the vertical axis counts, such as `Hours`. */
  unit: string;
  /** Address of the rows that a bar counts. */
  to: (index: number) => string;
  /** Of the bars, in pixels. */
  height?: number;
}

/** A section of a page with a chart of stacked bars, each of which leads to the rows that it counts, and with its figures as a table. */
export function ChartPanel(props: ChartProps) {
  const { heading, summary, title, labelHeader, labels, series, unit, to, height = 200 } = props;
  const bars = series.filter(({ isMark }) => !isMark);
  const heights = labels.map((_, index) => sum(bars.map(({ values }) => values[index]!)));
  const ticks = toTicks(Math.max(...heights, ...series.flatMap(({ values }) => values)));
  const top = ticks.at(-1)!;
  const axis = formatNumber(top).length + 1;
  const toPercent = (value: number) => `${(value / top) * 100}%`;
  const describe = (index: number) =>
    [labels[index], ...series.map(({ name, values }) => `${name}: ${formatNumber(values[index]!)}`)].join('\n');
  return (
    <Panel title={heading} aside={summary && <span className="soft small">{summary}</span>}>
      <figure className="body chart">
        <div className="legend soft small" aria-hidden="true">
          <span>{unit}</span>
          {series.length > 1 &&
            series.map(({ name, tone, isMark }) => (
              <span key={name}>
                <i className={isMark ? 'mark' : tone} />
                {name}
              </span>
            ))}
        </div>
        {/* The table has the same links and figures for the keyboard and screen readers. */}
        <div className="plot" aria-hidden="true" style={{ height, '--axis': `${axis}ch` } as CSSProperties}>
          {ticks.map((tick) => (
            <span key={tick} className="tick soft" style={{ bottom: toPercent(tick) }}>
              {formatNumber(tick)}
            </span>
          ))}
          <ol>
            {labels.map((label, index) => (
              <li key={label}>
                <Link to={to(index)} tabIndex={-1} title={describe(index)}>
                  {series.map(({ name, values, tone, isMark }) => (
                    <i
                      key={name}
                      className={isMark ? 'mark' : tone}
                      hidden={values[index] === 0}
                      style={{ [isMark ? 'bottom' : 'height']: toPercent(values[index]!) }}
                    />
                  ))}
                </Link>
                <span className={`label soft ${toWidths(labels, index)}`}>{label}</span>
              </li>
            ))}
          </ol>
        </div>
        <details>
          <summary className="soft">Figures as a table</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the region scrolls, so the keyboard must reach it. */}
          <section className="figures-table" aria-label={title} tabIndex={0}>
            <DataTable
              name={`${title}, in ${unit.toLowerCase()}`}
              cards={false}
              rows={labels.map((label, index) => ({ label, index }))}
              rowKey={({ label }) => label}
              columns={[
                { header: labelHeader, cell: ({ label, index }) => <Link to={to(index)}>{label}</Link> },
                ...series.map(({ name, values }) => ({
                  header: name,
                  cell: ({ index }: { index: number }) => formatNumber(values[index]!),
                  number: true,
                })),
              ]}
            />
          </section>
        </details>
      </figure>
    </Panel>
  );
}

/** Returns the steps of the vertical axis up to a value, at most five and whole numbers, because it counts. */
function toTicks(highest: number): number[] {
  const steps = [1, 2, 5].flatMap((digit) => [0, 1, 2, 3, 4, 5, 6, 7].map((power) => digit * 10 ** power));
  const step = steps.sort((one, other) => one - other).find((each) => each * 4 >= highest)!;
  return Array.from({ length: Math.max(1, Math.ceil(highest / step)) + 1 }, (_, index) => index * step);
}

/** Widths in pixels from which charts show more labels, as in the styles. */
const WIDTHS = [250, 560];
/** Pixels of the vertical axis, of a letter, and of the space between two labels. */
const AXIS = 48;
const LETTER = 7;
const SPACE = 14;

/** Returns the classes of the widths at which the label has room below the axis: those of every second or third bar and so on may not. */
function toWidths(labels: readonly string[], index: number): string {
  const needed = Math.max(...labels.map(({ length }) => length)) * LETTER + SPACE;
  return WIDTHS.filter((width) => {
    const room = width - AXIS;
    const step = Math.ceil((labels.length * needed) / room);
    const center = ((index + 0.5) * room) / labels.length;
    return index % step === 0 && center + needed / 2 <= room + SPACE;
  })
    .map((width) => `from-${width}`)
    .join(' ');
}

interface Bar {
  name: string;
  value: number;
  /** Address of what the bar counts. */
  to?: string;
  /** The value in words, with what belongs to it. */
  children: ReactNode;
}

/** A list of values with bars, each of which leads to the rows that it counts. */
export function BarList({ bars }: { bars: readonly Bar[] }) {
  const most = Math.max(...bars.map(({ value }) => value)) || 1;
  return (
    <ol className="body top-list">
      {bars.map(({ name, value, to, children }) => (
        <li key={to ?? name}>
          {to ? (
            <Link className="wrap" to={to} title={name}>
              {name}
            </Link>
          ) : (
            <span className="wrap">{name}</span>
          )}
          <span>{children}</span>
          <i className="share" style={{ width: `${(value / most) * 100}%` }} />
        </li>
      ))}
    </ol>
  );
}

import { type ReactNode, useEffect, useRef, useState } from 'react';
import uPlot, { type Options } from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatNumber } from '../shared/format.ts';
import { useTheme } from '../shared/theme.ts';
import { DataTable } from './data-table.tsx';
import { Panel } from './page.tsx';

interface Series {
  name: string;
  values: readonly number[];
  /** A line is drawn over the bars, for figures to compare with. */
  line?: boolean;
}

interface ChartProps {
  /** What the chart shows, for screen readers and as caption of its table. */
  title: string;
  /** Header of the labels in the table, such as `Week`. */
  labelHeader: string;
  labels: readonly string[];
  /** At most six. Bars are stacked in this order, from the bottom. */
  series: readonly Series[];
  /** What the vertical axis counts, such as `Hours`. */
  unit: string;
  height?: number;
}

interface PanelProps extends ChartProps {
  heading: string;
  /** A summary beside the heading. */
  summary?: ReactNode;
}

/** A section of a page with a chart. */
export const ChartPanel = ({ heading, summary, ...chart }: PanelProps) => (
  <Panel title={heading} aside={summary && <span className="soft small">{summary}</span>}>
    <div className="body">
      <BarChart {...chart} />
    </div>
  </Panel>
);

/** A chart of stacked bars, with its figures as a table. */
function BarChart({ title, labelHeader, labels, series, unit, height = 200 }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  const [hovered, setHovered] = useState<{ index: number; left: number } | null>(null);
  // The chart is drawn again when its figures change, not when the page renders again with the same ones.
  const figures = JSON.stringify([labels, series]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours that the styles compute.
  useEffect(() => {
    const element = container.current!;
    const [ownLabels, ownSeries] = JSON.parse(figures) as [string[], Series[]];
    const onHover = (index: number | null | undefined, left: number) =>
      setHovered(index === null || index === undefined || left < 0 ? null : { index, left });
    const options = chartOptions(element, ownLabels, ownSeries, height, onHover);
    const plot = new uPlot(options, chartData(ownLabels, ownSeries), element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [figures, height, theme]);
  return (
    <figure className="chart">
      {series.length > 1 && (
        <div className="legend soft small" aria-hidden="true">
          {series.map(({ name, line }, index) => (
            <span key={name}>
              <i className={line ? 'line' : undefined} style={{ background: `var(--chart-${index + 1})` }} />
              {name}
            </span>
          ))}
        </div>
      )}
      <div className="unit soft" aria-hidden="true">
        {unit}
      </div>
      <div ref={container} aria-hidden="true" />
      {hovered && labels[hovered.index] !== undefined && (
        <div
          className="tip"
          aria-hidden="true"
          style={{ left: `clamp(0px, ${Math.round(hovered.left)}px, calc(100% - 180px))`, bottom: height }}
        >
          <b>{labels[hovered.index]}</b>
          {series.map(({ name, values }) => (
            <div key={name}>
              {name}: {formatNumber(values[hovered.index] ?? 0)}
            </div>
          ))}
        </div>
      )}
      <details>
        <summary>Figures as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the region scrolls, so the keyboard must reach it. */}
        <section className="figures-table" aria-label={title} tabIndex={0}>
          <DataTable
            name={`${title}, in ${unit.toLowerCase()}`}
            cards={false}
            rows={labels.map((label, index) => ({ label, index }))}
            rowKey={({ label }) => label}
            columns={[
              { header: labelHeader, cell: ({ label }) => label },
              ...series.map(({ name, values }) => ({
                header: name,
                cell: ({ index }: { index: number }) => formatNumber(values[index] ?? 0),
                number: true,
              })),
            ]}
          />
        </section>
      </details>
    </figure>
  );
}

/** Sums of the bars up to each series, drawn from the largest, so that each covers the lower part of the one before. */
function chartData(labels: readonly string[], series: readonly Series[]): uPlot.AlignedData {
  const sums = new Array<number>(labels.length).fill(0);
  const stacks = series
    .filter(({ line }) => !line)
    .map(({ values }) =>
      values.map((value, index) => {
        sums[index]! += value;
        return sums[index]!;
      }),
    );
  const lines = series.filter(({ line }) => line).map(({ values }) => [...values]);
  return [labels.map((_, index) => index), ...stacks.reverse(), ...lines];
}

/** Steps of the vertical axis: whole numbers, because it counts. */
const INCREMENTS = [1, 2, 5]
  .flatMap((step) => [0, 1, 2, 3, 4, 5, 6].map((power) => step * 10 ** power))
  .sort((a, b) => a - b);

/** Pixels that a label of the horizontal axis needs. */
const LABEL_WIDTH = 56;

function chartOptions(
  element: HTMLElement,
  labels: readonly string[],
  series: readonly Series[],
  height: number,
  onHover: (index: number | null | undefined, left: number) => void,
): Options {
  const colour = (property: string) => readColour(element, property);
  const colouredSeries = series.map((one, index) => ({ ...one, colour: colour(`--chart-${index + 1}`) }));
  const stroke = colour('--soft');
  const grid = { stroke: colour('--line'), width: 1 };
  const axis = { stroke, font: `12px ${getComputedStyle(element).fontFamily}`, ticks: { show: false } };
  return {
    width: Math.max(element.clientWidth, 200),
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: [-0.6, Math.max(labels.length - 0.4, 0.6)] },
      y: { range: (_, __, highest) => [0, Math.max(highest * 1.08, 1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        splits: ({ width }) => {
          const step = Math.max(1, Math.ceil((labels.length * LABEL_WIDTH) / Math.max(width / devicePixelRatio, 1)));
          return labels.map((_, index) => index).filter((index) => index % step === 0);
        },
        values: (_, splits) => splits.map((index) => labels[index] ?? ''),
      },
      { ...axis, grid, size: 48, incrs: INCREMENTS, values: (_, splits) => splits.map(formatNumber) },
    ],
    series: [
      {},
      ...colouredSeries
        .filter(({ line }) => !line)
        .reverse()
        .map(({ name, colour: fill }) => ({
          label: name,
          fill,
          stroke: fill,
          width: 0,
          points: { show: false },
          paths: uPlot.paths.bars!({ size: [0.7, 48], radius: 0.06 }),
        })),
      ...colouredSeries
        .filter(({ line }) => line)
        .map(({ name, colour }) => ({ label: name, stroke: colour, width: 2, points: { show: false } })),
    ],
    hooks: { setCursor: [({ cursor: { idx, left } }) => onHover(idx, left ?? -1)] },
  };
}

/** Returns the colour of a custom property in the current theme. */
function readColour(element: HTMLElement, property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

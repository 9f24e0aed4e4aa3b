import type { ComponentProps, ReactNode } from 'react';
import { BarChart } from './bar-chart.tsx';
import { Panel } from './panel.tsx';

interface Props extends ComponentProps<typeof BarChart> {
  heading: string;
  /** A summary beside the heading. */
  summary?: ReactNode;
}

/** A section of a page with a chart. */
export const ChartPanel = ({ heading, summary, ...chart }: Props) => (
  <Panel title={heading} aside={summary && <span className="soft small">{summary}</span>}>
    <div className="body">
      <BarChart {...chart} />
    </div>
  </Panel>
);

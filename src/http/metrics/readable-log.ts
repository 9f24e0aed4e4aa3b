import { toTerminalLine } from '../../shared/terminal-text.ts';

const LABELS: Record<number, string> = { 40: 'WARNING ', 50: 'ERROR ', 60: 'FATAL ' };

/** Formats a JSON line of the log for a person: a request by its result, other lines by their message and plain values. */
export function formatLogLine(json: string): string {
  const { time, level, msg, err, pid: _, hostname: __, requestId: ___, ...values } = JSON.parse(json);
  const clock = new Date(time).toTimeString().slice(0, 8);
  if (msg === 'request') {
    const { method, path, status, milliseconds, operation } = values;
    return `${clock} ${toTerminalLine(`${method} ${path} ${operation ?? ''}`.trim())} ${status} ${milliseconds} ms\n`;
  }
  const words = Object.entries(values)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}=${value}`);
  const line = toTerminalLine([msg, ...words].join(' '));
  return `${clock} ${LABELS[level] ?? ''}${line}\n${err?.stack ? `${err.stack}\n` : ''}`;
}

import { readFileSync } from 'node:fs';

/** Returns the Node options of `npm start`. */
export function readStartOptions(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plan } from './plan.ts';
import { ExchangeError } from './session.ts';

export interface FoundFile {
  plan: Plan;
  path: string;
  size: number;
}

/** The files of the folder in the order of the plans. Other names that end in `.ndjson` are mistakes. */
export async function findFiles(folder: string, plans: Plan[]): Promise<FoundFile[]> {
  const names = await readdir(folder).catch((error: Error) => {
    throw new ExchangeError(`The folder ${folder} cannot be read: ${error.message}`);
  });
  const given = names.filter((name) => name.toLowerCase().endsWith('.ndjson'));
  const known = plans.map(({ file }) => file);
  const unknown = given.filter((name) => !known.includes(name)).sort();
  if (unknown.length > 0) {
    throw new ExchangeError(`${join(folder, unknown[0]!)} is no file of the format, which has ${known.join(', ')}.`);
  }
  if (given.length === 0) throw new ExchangeError(`The folder ${folder} holds no file of the format.`);
  const found: FoundFile[] = [];
  for (const plan of plans.filter(({ file }) => given.includes(file))) {
    const path = join(folder, plan.file);
    const status = await stat(path).catch((error: Error) => {
      throw new ExchangeError(`${path} cannot be read: ${error.message}`);
    });
    if (!status.isFile()) throw new ExchangeError(`${path} is not a file.`);
    found.push({ plan, path, size: status.size });
  }
  return found;
}

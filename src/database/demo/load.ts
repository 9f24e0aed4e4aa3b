import type { Config } from '../../config.ts';
import type { Databases } from '../database.ts';

/** What the console needs of the demo data to print a command that works. */
export interface DemoSummary {
  /** Path of `demo.json`. */
  file: string;
  clientId: string;
  clientSecret: string;
  scopes: string[];
}

export async function loadDemo(_databases: Databases, _config: Config): Promise<DemoSummary | null> {
  return null;
}

import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GateEvent, GateResult, GateStore } from './queue.ts';
import type { RosterState, RosterStore } from './roster.ts';

/** One line of the journal. */
type Entry = { event: GateEvent } | { result: GateResult } | { removed: string[] };

/** Returns a store in a folder of this computer, for one process at a time. */
export function createFileStore(folder: string): GateStore & RosterStore {
  const path = join(folder, 'events.ndjson');
  const rosterPath = join(folder, 'roster.json');
  let writing: Promise<void> = Promise.resolve();

  function append(entries: Entry[], isDurable: boolean): Promise<void> {
    // Begins with a line break, because an append that failed, on a full disk, may have left a part of a line.
    const lines = `\n${toLines(entries)}`;
    const write = async () => {
      const file = await open(path, 'a', 0o600);
      try {
        await file.writeFile(lines);
        if (isDurable) await file.datasync();
      } finally {
        await file.close();
      }
    };
    // One failed write does not stop the next one.
    writing = writing.catch(() => {}).then(write);
    return writing;
  }

  return {
    async load() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const events = new Map<string, GateEvent>();
      const results = new Map<string, GateResult>();
      const text = await readText(path);
      for (const line of text.split('\n')) {
        const entry = parseLine(line);
        if (entry === null) continue;
        if ('event' in entry) events.set(entry.event.sourceEventId, entry.event);
        else if ('result' in entry) results.set(entry.result.sourceEventId, entry.result);
        else for (const id of entry.removed) for (const kept of [events, results]) kept.delete(id);
      }
      // The file becomes as short as what it holds.
      const entries = [
        ...[...events.values()].map((event) => ({ event })),
        ...[...results.values()].map((result) => ({ result })),
      ];
      await replaceFile(path, toLines(entries));
      return { events: [...events.values()], results: [...results.values()] };
    },
    addEvents: (events) =>
      append(
        events.map((event) => ({ event })),
        true,
      ),
    addResult: (result) => append([{ result }], false),
    remove: (removed) => append([{ removed }], false),
    async loadRoster() {
      const text = await readText(rosterPath);
      return text === '' ? null : (JSON.parse(text) as RosterState);
    },
    async saveRoster(state) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(rosterPath, JSON.stringify(state));
    },
  };
}

const toLines = (entries: Entry[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');

/** Returns null for an incomplete line: a power failure or a full disk has interrupted its append, which has not resolved. */
function parseLine(line: string): Entry | null {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    return null;
  }
}

/** Returns the text of a file, which is empty when there is none. */
const readText = (path: string): Promise<string> =>
  readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });

/** Replaces a file at once: after a power failure it is the old or the new one, and the new one when this has resolved. */
async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { flush: true, mode: 0o600 });
  await rename(`${path}.new`, path);
  // Windows opens no folders, and writes their entries itself.
  const folder = await open(dirname(path), 'r').catch(() => null);
  await folder?.sync().catch(() => {});
  await folder?.close();
}

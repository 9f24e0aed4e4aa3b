import { resolve } from 'node:path';
import type { Erasure, ErasurePlace } from '../../../entities/erasure.entity.ts';
import { loadConfig } from '../../config.ts';
import { parseId } from '../../domain/access/access-values.ts';
import { cancelBuilderErasure, listErasures, scheduleBuilderErasure } from '../../domain/privacy/erase-builder.ts';
import { erasePerson, previewErasure } from '../../domain/privacy/erase-person.ts';
import { listErasedTexts, replaceErasedText } from '../../domain/privacy/listed-texts.ts';
import { findPeople } from '../../domain/privacy/person.ts';
import { listPersonalTables } from '../../domain/privacy/personal-tables.ts';
import { eraseDueBuilders, replayErasures } from '../../domain/privacy/replay-erasures.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import { formatFields } from '../io/cli-io.ts';
import { confirm } from '../io/confirm.ts';
import { exportPersonTo } from '../services/privacy.ts';
import { openStorage } from '../services/storage.ts';
import { type CommandGroup, option } from './command-group.ts';
import { addExportCommand } from './data.ts';

/** Adds the commands that export and erase people. */
export function addPersonCommands(program: CommandGroup): void {
  const { io } = program;
  const person = program.addGroup('person', 'what is stored about a person');

  const find = 'find users, workers, profiles and contacts by full name or e-mail address';
  person.addRegional('find <text>', find, [], async ({ database }, _options, text) => {
    const data = { people: await findPeople(database.fork(), listPersonalTables(database.metadata), text!) };
    const lines = data.people.map(({ id, name, email, builderId }) => [
      id,
      [name, email, builderId].filter(Boolean).join(', '),
    ]);
    return { data, text: formatFields(lines.length > 0 ? 'Found:' : 'Nobody was found.', Object.fromEntries(lines)) };
  });

  const exporting = 'export what identifies the person with these records: person.json and files/';
  person.addRegional('export <dir> <ids...>', exporting, [], async (context, _options, dir, ids) => {
    const storage = await openStorage(io, context);
    const data = await exportPersonTo(context, storage, resolve(dir!), toList(ids));
    const others = { 'mentioned in': data.mentionedIn, files: data.files, missing: data.missingFiles };
    return { data, text: formatFields(`Exported to ${data.folder}.`, { ...data.rows, ...others }) };
  });

  const erasing = [
    option('--reason <text>', 'reference of the request, for the audit log; no name'),
    option('--yes', 'skip the confirmation; required without a terminal'),
  ];
  const erase = 'erase the person with these records: a pseudonym replaces the name; cannot be undone';
  const command = person.addRegional('erase <ids...>', erase, erasing, async (context, options, ids) => {
    const list = toList(ids);
    const privacyContext = { ...context, storage: await openStorage(io, context) };
    if (!options.yes) {
      const texts = (await previewErasure(privacyContext, list)).map(formatPlace);
      const question = `This erases the person with the records ${list.join(', ')}. It cannot be undone.`;
      const steps = texts.length > 0 ? ['These texts name the person, and stay:', ...texts, question] : [question];
      if (!(await confirm(io, steps))) return { data: { erased: false }, text: 'Nothing was erased.' };
    }
    const data = await erasePerson(privacyContext, list, options.reason);
    const lines = [formatFields(`The person is now ${data.pseudonym}.`, data.rows)];
    const advice = `These texts name the person. \`person texts ${data.erasureId}\` lists them and replaces the name in one:`;
    if (data.texts.length > 0) lines.push(advice, ...data.texts.map(formatPlace));
    return { data: { erased: true, ...data }, text: lines.join('\n') };
  });
  command.addHelpText('after', '\nTexts that people wrote are shown before and stay. See `person texts`.');

  const replacing = [
    option('--replace <place>', 'replace the name in this text by the pseudonym'),
    option('--name <name>', 'the name, in any spelling that is compared as equal'),
  ];
  const list = 'list the texts that named an erased person, by the id of the erasure or of a record, as they are now';
  person.addRegional('texts <id>', list, replacing, async (context, { replace, name }, id) => {
    if ((replace === undefined) !== (name === undefined))
      throw CliError.forOption(replace === undefined ? '--replace' : '--name', 'is required with the other');
    const texts =
      replace === undefined
        ? await listErasedTexts(context, id!)
        : [await replaceErasedText(context, id!, replace, name)];
    const lines = texts.map(({ place, value }) =>
      formatLine(place, typeof value === 'string' ? value : JSON.stringify(value)),
    );
    return { data: { texts }, text: lines.join('\n') || 'No text named the person.' };
  });

  const replay = 'apply every erasure whose records are there again; the service does it at start and every hour';
  person.addRegional('replay-erasures', replay, [], async (context) => {
    const privacyContext = { ...context, storage: await openStorage(io, context) };
    const people = await replayErasures(privacyContext);
    const builders = (await eraseDueBuilders(privacyContext))?.builders ?? 0;
    const data = { applied: people.applied + builders, stored: people.stored };
    return { data, text: `${data.applied} applied, ${data.stored} stored again.` };
  });
}

/** Maximum characters of a text in a line; `--json` prints all. */
const MAX_TEXT = 500;

function formatLine(place: string, text: string): string {
  return `  ${toTerminalLine(`${place}: ${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text}`)}`;
}

const formatPlace = ({ table, id, column, texts }: ErasurePlace & { texts: string[] }) =>
  formatLine(`${table}/${id}/${column}`, texts.join(' … '));

/** Adds the commands that export and erase a builder to its group. */
export function addBuilderPrivacyCommands(builder: CommandGroup): void {
  const { io } = builder;
  const exporting = 'export the records of a builder with their files, in the format of import';
  addExportCommand(builder, 'export <builder> <dir>', exporting);

  const options = [
    option('--undo', 'cancel the scheduled erasure'),
    option('--reason <text>', 'reason for the audit log'),
  ];
  const erase = 'schedule the erasure of a builder and all of its records; it can be undone for ERASURE_GRACE_DAYS';
  builder.addRegional('erase <builder>', erase, options, async (context, { undo, reason }, id) => {
    const builderId = parseId('builderId', 'builder', id!);
    const privacyContext = { ...context, storage: await openStorage(io, context) };
    if (undo) {
      const data = { ...toListedErasure(await cancelBuilderErasure(privacyContext, builderId)), builderId };
      return { data, text: `${data.builderId} is no longer to be erased.` };
    }
    const { erasureGraceDays } = loadConfig(io.env);
    const { erasure, changed } = await scheduleBuilderErasure(privacyContext, builderId, erasureGraceDays, reason);
    const data = { ...toListedErasure(erasure), builderId, changed };
    const when = changed ? 'will be' : 'was already to be';
    return { data, text: `${data.builderId} ${when} erased after ${data.dueAt}. --undo cancels it until then.` };
  });

  const list = 'list the erasures of builders and people, newest first';
  builder.addRegional('erasures', list, [], async ({ database }) => {
    const data = { erasures: (await listErasures(database)).map(toListedErasure) };
    const lines = data.erasures.map(({ id, kind, subjectIds, dueAt, cancelledAt, completedAt }) => {
      const state = cancelledAt ? `cancelled ${cancelledAt}` : completedAt ? `done ${completedAt}` : `due ${dueAt}`;
      return [id, `${kind} ${subjectIds.join(' ')} ${state}`];
    });
    return { data, text: formatFields(lines.length > 0 ? 'Erasures:' : 'No erasures.', Object.fromEntries(lines)) };
  });
}

const toListedErasure = ({ builderIds: _, pendingKeys: __, places: ___, ...erasure }: Erasure) => erasure;

/** Commander passes the values of a variadic argument as a list. */
const toList = (values: unknown): string[] => values as string[];

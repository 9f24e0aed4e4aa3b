import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Erasure, ErasurePlace } from '../../../entities/erasure.entity.ts';
import { loadConfig } from '../../config.ts';
import { parseId } from '../../domain/access/access-values.ts';
import { cancelBuilderErasure, listErasures, scheduleBuilderErasure } from '../../domain/privacy/erase-builder.ts';
import { erasePerson, previewErasure } from '../../domain/privacy/erase-person.ts';
import { listErasedTexts, replaceErasedText } from '../../domain/privacy/listed-texts.ts';
import { findPeople } from '../../domain/privacy/person.ts';
import { listPersonalTables } from '../../domain/privacy/personal-tables.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import { type CliIo, formatFields } from '../io/cli-io.ts';
import { confirm } from '../io/confirm.ts';
import { exportPersonTo, replayErasureList } from '../services/privacy.ts';
import { openStorage } from '../services/storage.ts';
import { defineExportCommand } from './data.ts';
import { addCommandGroup, defineRegionalCommand } from './define-command.ts';

/** Adds the commands that export and erase people. */
export function addPersonCommands(program: Command, io: CliIo): void {
  const person = addCommandGroup(program, 'person', 'what is stored about a person');

  const find = person
    .command('find <text>')
    .description('find users, workers, profiles and contacts by full name or e-mail address');
  defineRegionalCommand(io, find, async (context, _options, text) => {
    const { database } = context;
    const data = { people: await findPeople(database.fork(), listPersonalTables(database.metadata), text!) };
    const lines = data.people.map(({ id, name, email, builderId }) => [
      id,
      [name, email, builderId].filter(Boolean).join(', '),
    ]);
    return { data, text: formatFields(lines.length > 0 ? 'Found:' : 'Nobody was found.', Object.fromEntries(lines)) };
  });

  const exportCommand = person
    .command('export <dir> <ids...>')
    .description('export what identifies the person with these records: person.json and files/');
  defineRegionalCommand(io, exportCommand, async (context, _options, dir, ids) => {
    const storage = await openStorage(io, context);
    const data = await exportPersonTo(context, storage, resolve(dir!), toList(ids));
    const rows = Object.entries(data.rows).map(([type, count]) => [type, String(count)]);
    const others = { 'mentioned in': String(data.mentionedIn), files: String(data.files) };
    return { data, text: formatFields(`Exported to ${data.folder}.`, { ...Object.fromEntries(rows), ...others }) };
  });

  const erase = person
    .command('erase <ids...>')
    .description('erase the person with these records: a pseudonym replaces the name; cannot be undone')
    .addHelpText('after', '\nTexts that people wrote are shown before and stay. See `person texts`.')
    .option('--reason <text>', 'reference of the request, for the audit log; no name')
    .option('--yes', 'skip the confirmation; required without a terminal');
  defineRegionalCommand(io, erase, async (context, options, ids) => {
    const list = toList(ids);
    const privacyContext = { ...context, storage: await openStorage(io, context) };
    if (!options.yes) {
      const found = await previewErasure(privacyContext, list);
      const texts = found.map((each) => formatText(each, each.texts.join(' … ')));
      const question = `This erases the person with the records ${list.join(', ')}. It cannot be undone.`;
      const steps = texts.length > 0 ? ['These texts name the person, and stay:', ...texts, question] : [question];
      if (!(await confirm(io, steps))) return { data: { erased: false }, text: 'Nothing was erased.' };
    }
    const data = await erasePerson(privacyContext, list, options.reason);
    const rows = Object.entries(data.rows).map(([type, count]) => [type, String(count)]);
    const texts = data.texts.map((each) => `\n${formatText(each, each.texts.join(' … '))}`);
    const heading = formatFields(`The person is now ${data.pseudonym}.`, Object.fromEntries(rows));
    const advice = `\nThese texts name the person. \`person texts ${data.erasureId}\` lists them and replaces the name in one:`;
    return { data: { erased: true, ...data }, text: `${heading}${texts.length > 0 ? advice : ''}${texts.join('')}` };
  });

  const texts = person
    .command('texts <id>')
    .description('list the texts that named an erased person, by the id of the erasure or of a record, as they are now')
    .option('--replace <place>', 'replace the name in this text by the pseudonym')
    .option('--name <name>', 'the name, in any spelling that is compared as equal');
  defineRegionalCommand(io, texts, async (context, { replace, name }, id) => {
    if ((replace === undefined) !== (name === undefined))
      throw CliError.forOption(replace ? '--name' : '--replace', 'is required with the other');
    const texts = replace
      ? [await replaceErasedText(context, id!, replace, name)]
      : await listErasedTexts(context, id!);
    const data = { texts };
    const lines = texts.map(({ place, value }) =>
      formatLine(place, typeof value === 'string' ? value : JSON.stringify(value)),
    );
    return { data, text: lines.join('\n') || 'No text named the person.' };
  });

  const replay = person
    .command('replay-erasures')
    .description('apply every erasure whose records are there again; the service does it at start and every hour');
  defineRegionalCommand(io, replay, async (context) => {
    const data = await replayErasureList(context, await openStorage(io, context));
    return { data, text: `${data.applied} applied, ${data.stored} stored again.` };
  });
}

/** Maximum characters of a text in a line; `--json` prints all. */
const MAX_TEXT = 500;

function formatLine(place: string, text: string): string {
  return `  ${toTerminalLine(`${place}: ${text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text}`)}`;
}

const formatText = ({ table, id, column }: ErasurePlace, text: string) => formatLine(`${table}/${id}/${column}`, text);

/** Adds the commands that export and erase a builder to its group. */
export function addBuilderPrivacyCommands(builder: Command, io: CliIo): void {
  const exportCommand = builder
    .command('export <builder> <dir>')
    .description('export the records of a builder with their files, in the format of import');
  defineExportCommand(io, exportCommand, (id, dir) => ({ dir: dir!, builder: id! }));

  const erase = builder
    .command('erase <builder>')
    .description('schedule the erasure of a builder and all of its records; it can be undone for ERASURE_GRACE_DAYS')
    .option('--undo', 'cancel the scheduled erasure')
    .option('--reason <text>', 'reason for the audit log');
  defineRegionalCommand(io, erase, async (context, { undo, reason }, id) => {
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

  const list = builder.command('erasures').description('list the erasures of builders and people, newest first');
  defineRegionalCommand(io, list, async (context) => {
    const data = { erasures: (await listErasures(context.database)).map(toListedErasure) };
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

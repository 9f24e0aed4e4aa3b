import { ArgsType, Field, InputType } from 'type-graphql';
import { ItemCount, isSent, Rule } from '../../schema/input-rules.ts';
import { scalar } from '../../schema/scalar.ts';
import {
  ExternalSourceId,
  JsonObject,
  ProjectId,
  parseText,
  SourceApp,
  Timestamp,
  text,
} from '../../schema/scalars.ts';
import { NoteDeepLink, NoteWebLink } from '../../src/domain/meetings/note-links.ts';

const MAX_TITLE_LENGTH = 160;

/** Trimmed (MTG-4). */
export const MeetingTitle = scalar<string>({
  name: 'MeetingTitle',
  description: `Title of a meeting: 1 to ${MAX_TITLE_LENGTH} characters, without white space around it.`,
  jsonSchema: {
    type: 'string',
    pattern: `^\\s*\\S([\\s\\S]{0,${MAX_TITLE_LENGTH - 2}}\\S)?\\s*$`,
    examples: ['Weekly site meeting'],
  },
  parse: (value) => {
    const title = typeof value === 'string' ? value.trim() : value;
    return parseText(title, 1, MAX_TITLE_LENGTH, `1 to ${MAX_TITLE_LENGTH} characters`);
  },
});

export const MeetingText = text('MeetingText', 'Text of a meeting or of its notes.', {
  example: 'Crane lift moved to Thursday.',
});

/** Declares that another argument must be sent with this one. */
const RequiresOther = (name: string, fieldName: string) =>
  Rule((values: object) =>
    isSent(values, name) && !isSent(values, fieldName) ? [{ fieldName, message: `is required with ${name}` }] : [],
  );

/** Body of `createMeeting` (MTG-3). */
@ArgsType()
export class CreateMeetingArgs {
  @Field(() => MeetingTitle, { description: 'Title, 1 to 160 characters after white space around it is removed.' })
  title!: string;

  @Field(() => ProjectId, {
    nullable: true,
    description: 'The project of the meeting; absent when it is not about a single project.',
  })
  projectId?: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'When the meeting is held. Default now.' })
  date?: string | null;

  @Field(() => MeetingText, { nullable: true, description: 'Topics of the meeting.' })
  agenda?: string | null;

  @Field(() => MeetingText, { nullable: true, description: 'Notes to begin with.' })
  notes?: string | null;

  @Field(() => SourceApp, { nullable: true, description: 'Name of the application that the meeting comes from.' })
  @RequiresOther('sourceApp', 'externalSourceId')
  sourceApp?: string | null;

  @Field(() => ExternalSourceId, {
    nullable: true,
    description: 'With `sourceApp` the identity of the meeting: a repeated request returns the existing meeting.',
  })
  @RequiresOther('externalSourceId', 'sourceApp')
  externalSourceId?: string | null;
}

@InputType({ description: 'An action item of the meeting.' })
class ActionItemInput {
  @Field(() => MeetingText, { description: 'Text of the action item.' })
  text!: string;
}

const MAX_BLOCKS = 500;
const MAX_ACTION_ITEMS = 100;

/** A note as it is in the other application; absent fields are empty (MTG-12, MTG-14). */
@ArgsType()
export class MeetingNoteArgs {
  @Field(() => ExternalSourceId, { description: 'Identity of the note, with `sourceApp`.' })
  externalSourceId!: string;

  @Field(() => SourceApp, {
    nullable: true,
    description: 'Name of the application that the note comes from, part of its identity.',
  })
  sourceApp?: string | null;

  @Field(() => NoteDeepLink, { nullable: true, description: 'Opens the note in that application.' })
  sourceDeepLink?: string | null;

  @Field(() => NoteWebLink, { nullable: true, description: 'Opens the note in a browser.' })
  sourceWebLink?: string | null;

  @Field(() => MeetingText, { nullable: true, description: 'Title of the note.' })
  title?: string | null;

  @Field(() => MeetingText, { nullable: true, description: 'Markdown.' })
  summaryMarkdown?: string | null;

  @Field(() => [JsonObject], {
    nullable: true,
    description: `Blocks in the format of the source application, at most ${MAX_BLOCKS}. The texts of \`title\`, \`heading\`, \`text\`, \`markdown\` and \`content\` are written to the notes of the meeting.`,
  })
  @ItemCount({ maxItems: MAX_BLOCKS })
  detailBlocks?: Record<string, unknown>[] | null;

  @Field(() => [ActionItemInput], {
    nullable: true,
    description: `What the meeting decided to do, at most ${MAX_ACTION_ITEMS} items.`,
  })
  @ItemCount({ maxItems: MAX_ACTION_ITEMS })
  actionItems?: ActionItemInput[] | null;

  @Field(() => Timestamp, { nullable: true, description: 'When the recording behind the note began.' })
  capturedStartedAt?: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'When the recording behind the note ended.' })
  capturedEndedAt?: string | null;
}

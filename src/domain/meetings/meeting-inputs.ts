export interface CreateMeetingInput {
  title: string;
  projectId?: string | null;
  /** ISO 8601. Default now. */
  date?: string | null;
  agenda?: string | null;
  notes?: string | null;
  /** With `externalSourceId` identifies the meeting in another application. */
  sourceApp?: string | null;
  externalSourceId?: string | null;
}

/** A note as it is in the other application; absent fields are empty. */
interface MeetingNoteInput {
  sourceDeepLink?: string | null;
  sourceWebLink?: string | null;
  title?: string | null;
  summaryMarkdown?: string | null;
  detailBlocks?: Record<string, unknown>[] | null;
  actionItems?: { text: string }[] | null;
  capturedStartedAt?: string | null;
  capturedEndedAt?: string | null;
}

/** Returns the columns of a note. */
export function toNoteFields(input: MeetingNoteInput) {
  const { detailBlocks, actionItems } = input;
  return {
    sourceDeepLink: input.sourceDeepLink ?? null,
    sourceWebLink: input.sourceWebLink ?? null,
    title: input.title ?? null,
    summaryMarkdown: input.summaryMarkdown ?? null,
    detailBlocks: detailBlocks ?? [],
    actionItems: (actionItems ?? []).map(({ text }) => ({ text })),
    capturedStartedAt: input.capturedStartedAt ?? null,
    capturedEndedAt: input.capturedEndedAt ?? null,
  };
}

export type NoteFields = ReturnType<typeof toNoteFields>;

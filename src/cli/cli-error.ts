/** A command that cannot be done as asked. The message is one line that names the option or argument at fault. */
export class Refusal extends Error {
  override name = 'Refusal';

  /** @param details what `--json` prints beside the message. */
  constructor(
    message: string,
    readonly details: object = {},
  ) {
    super(message);
  }
}

/** Ends the command: `--scope: "read:everything" is no scope.` */
export function refuse(option: string, problem: string): never {
  throw new Refusal(`${option}: ${problem}.`);
}

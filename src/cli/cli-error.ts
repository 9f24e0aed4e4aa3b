import { OperatorError } from '../shared/operator-error.ts';
import { toTerminalLine } from '../shared/terminal-text.ts';

/** A command that cannot be run as given. The message is one line for the operator, without a stack. */
export class CliError extends OperatorError {
  override name = 'CliError';

  /** @param details Members that `--json` prints beside the message. */
  constructor(
    message: string,
    readonly details: object = {},
  ) {
    super(message);
  }

  /**
   * Creates the error for one option, argument or prompt: `--scope: at least one is needed.`
   *
   * @param problem The rest of the sentence, without the full stop.
   */
  static forOption(option: string, problem: string): CliError {
    return new CliError(`${option}: ${toTerminalLine(problem)}.`);
  }
}

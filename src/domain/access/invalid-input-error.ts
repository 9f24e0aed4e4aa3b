/** An operator's input that cannot be used. The command line names the option of the field, the console the field. */
export class InvalidInputError extends Error {
  override name = 'InvalidInputError';

  /**
   * @param field Name of the property, such as `redirectUris`.
   * @param problem The rest of a sentence that begins with the field, without the full stop.
   */
  constructor(
    readonly field: string,
    readonly problem: string,
  ) {
    super(`${field}: ${problem}.`);
  }
}

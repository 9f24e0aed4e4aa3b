/** An error whose cause the operator can correct: the message is for the operator, and programs print it without the stack. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

import { InvalidInputError } from '../../domain/access/invalid-input-error.ts';
import { invalidField } from '../../shared/errors.ts';

/** Returns the public error for an input that a command would reject too; other errors as they are. */
export function toPublicInputError(error: unknown): unknown {
  return error instanceof InvalidInputError ? invalidField(error.field, error.problem) : error;
}

import { describeError, type RequestError } from '../graphql/errors.ts';

/** A message about why an action failed. */
export function Problem({ error }: { error: RequestError | undefined }) {
  if (!error) return null;
  const { title, detail } = describeError(error);
  return (
    <p className="problem" role="alert">
      <strong>{title}.</strong> {detail}
    </p>
  );
}

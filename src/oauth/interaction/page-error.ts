/** An error that is shown to the user on a page instead of being sent to the client. */
export class PageError extends Error {
  override name = 'PageError';

  /**
   * @param isRetryable whether the page offers to try again
   * @param detail for the developers of the client
   */
  constructor(
    readonly status: number,
    readonly title: string,
    message: string,
    readonly isRetryable: boolean,
    readonly detail: string | null = null,
  ) {
    super(message);
  }
}

/** 403: the form has no valid CSRF token of this browser. */
export const pageExpired = () =>
  new PageError(
    403,
    'This page has expired',
    'It was open for too long, you have signed in or out in another tab, or your browser does not accept cookies.',
    true,
  );

/** 400: a form of the pages with missing or malformed fields. */
export const incompleteForm = () =>
  new PageError(400, 'That did not work', 'The form was incomplete. Nothing was changed.', true);

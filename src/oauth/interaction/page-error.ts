/** An error that the person at the browser reads, because it concerns the page and not the application. */
export class PageError extends Error {
  readonly status: number;
  readonly title: string;
  /** Whether starting the step again helps. */
  readonly again: boolean;

  constructor(status: number, title: string, message: string, again: boolean) {
    super(message);
    this.name = 'PageError';
    this.status = status;
    this.title = title;
    this.again = again;
  }
}

/** 403: the form came without this browser's token. */
export const pageExpired = () =>
  new PageError(
    403,
    'This page has expired',
    'It was open for too long, you have signed in or out in another tab, or your browser does not accept cookies.',
    true,
  );

/** 400: a form of ours that was changed on its way. */
export const incompleteForm = () =>
  new PageError(400, 'That did not work', 'The form did not arrive as a whole. Nothing was changed.', true);

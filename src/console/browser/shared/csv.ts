/** First characters with which spreadsheets begin a formula, also after a separator of fields. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Formats one field of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe, which the spreadsheet hides;
 * numbers stay numbers.
 */
export function formatCsvField(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  const text = String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n;]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Formats one row of CSV with its end of line. */
export const formatCsvRow = (fields: readonly (string | number | null | undefined)[]): string =>
  `${fields.map(formatCsvField).join(',')}\r\n`;

import { omitHidden } from './inert-text.ts';

/**
 * A person's name as text that is equal for names which people can't tell apart, or which systems often treat as one: in Unicode's form
 * NFKC, in lower case, trimmed and without invisible characters.
 */
export function normalizeName(name: string): string {
  /* Some letters have no upper case of their own, others no lower case: both ways, all forms of a letter meet. */
  const oneCase = omitBlank(name.normalize('NFKC')).toLowerCase().toUpperCase().toLowerCase();
  return omitBlank(oneCase.normalize('NFKC')).trim();
}

/* The blank of Braille is no space to Unicode, and looks like one. */
function omitBlank(name: string): string {
  return omitHidden(name).replaceAll('\u2800', '');
}

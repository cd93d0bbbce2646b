import { withoutHidden } from './inert-text.ts';

/**
 * A person's name as text that is equal for names which people can't tell apart, or which systems often treat as one: in Unicode's form
 * NFKC, in lower case, trimmed and without invisible characters.
 */
export function looseName(name: string): string {
  /* Some letters have no upper case of their own, others no lower case: both ways, all forms of a letter meet. */
  const oneCase = withoutBlank(name.normalize('NFKC')).toLowerCase().toUpperCase().toLowerCase();
  return withoutBlank(oneCase.normalize('NFKC')).trim();
}

/* The blank of Braille is no space to Unicode, and looks like one. */
function withoutBlank(name: string): string {
  return withoutHidden(name).replaceAll('\u2800', '');
}

/** The keyword of a JSON Schema that says how a value is meant, as a `FieldFormat`. With zod: `.meta({ 'x-holdpoint-format': … })`. */
export const formatKeyword = 'x-holdpoint-format';

/** The keywords of a JSON Schema that say, with these values, that what it describes must not be shown. */
export const secretKeywords: Readonly<Record<string, unknown>> = {
  format: 'password',
  writeOnly: true,
};

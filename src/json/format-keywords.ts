/** The keyword of a JSON Schema that declares the format of a value, as a `FieldFormat`. With zod: `.meta({ 'x-holdpoint-format': … })`. */
export const formatKeyword = 'x-holdpoint-format';

/** The keywords of a JSON Schema that declare, with these values, that the described value must not be shown. */
export const secretKeywords: Readonly<Record<string, unknown>> = {
  format: 'password',
  writeOnly: true,
};

/** The fields by which apps identify a person, the most reliable first. */
export const idFields = ['id', 'subject', 'sub', 'email'] as const;

/** What the first of these fields that says something has, as text; `undefined` if a principal has none. */
export function readIdField(principal: unknown): string | undefined {
  if (typeof principal !== 'object' || principal === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(principal));
  for (const name of idFields) {
    const value = fields.get(name);
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return undefined;
}

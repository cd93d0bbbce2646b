import { canonicalText } from './digest.ts';

/* The fields by which apps identify a person, the most reliable first. */
const idFields = ['id', 'subject', 'sub', 'email'] as const;

/**
 * Who a principal is, as text: a string as it is; an object by its `id`, `subject`, `sub` or `email`; anything else by its canonical JSON.
 * Principals with equal text are the same person. `null` is nobody, and has no text.
 */
export function defaultPrincipalId(principal: unknown): string {
  if (typeof principal === 'string') return principal;
  if (typeof principal === 'object' && principal !== null) {
    const fields = new Map<string, unknown>(Object.entries(principal));
    for (const name of idFields) {
      const value = fields.get(name);
      if (typeof value === 'string' && value.trim() !== '') return value;
      if (typeof value === 'number') return String(value);
    }
  }
  return principal === null ? '' : canonicalText(principal);
}
